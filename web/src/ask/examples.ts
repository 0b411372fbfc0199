/** Questions of the sample corpus, which `make run` asks too. */
export const EXAMPLES = [
  {
    question:
      "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized. What is the compliance action?",
    about: "Two pages of an AML policy, cited word for word",
  },
  {
    question: "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?",
    about: "Figures of a filing, checked digit by digit",
  },
  {
    question: "What is the penalty for late filing of form 8832?",
    about: "Nothing in the sources answers, and that is said",
  },
] as const;
