/** How many claims of an answer's last draft could not be verified, as /grounded_query counts them. */
import type { Answer } from "../types";

export function rejectedClaims(answer: Pick<Answer, "objections">): number {
  const abandoned = answer.objections.filter(
    (objection) => objection.outcome === "OUTCOME_ABANDONED" && objection.statement,
  );
  const last = Math.max(0, ...abandoned.map((objection) => objection.attempt));
  const claims = abandoned.filter((objection) => objection.attempt === last);
  return new Set(claims.map((objection) => objection.statement?.text)).size;
}
