/** Asks for an access token, where the system wants to know who asks. */
import { useId, useState, type SyntheticEvent } from "react";
import { give } from "../credentials";

export function SignIn() {
  const [token, setToken] = useState("");
  const id = useId();
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (token.trim()) give(token.trim().replace(/^Bearer /i, ""));
  };
  return (
    <form className="border-b border-line bg-warn-soft px-3 py-3 sm:px-5" onSubmit={onSubmit}>
      <label className="mb-1 block font-medium text-warn" htmlFor={id}>
        This system asks who you are: an access token (JWT), kept until this tab is closed
      </label>
      <div className="flex max-w-3xl gap-2">
        <input
          autoComplete="off"
          className="field"
          id={id}
          onChange={(event) => {
            setToken(event.target.value);
          }}
          type="password"
          value={token}
        />
        <button className="button button-primary" disabled={!token.trim()}>
          Continue
        </button>
      </div>
    </form>
  );
}
