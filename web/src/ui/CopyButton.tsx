/** Puts a text on the clipboard, and says whether that worked. */
import { useEffect, useState } from "react";
import { Icon } from "./Icon";

interface Props {
  text: () => string;
  label: string;
  /** What is shown; the label is read out. */
  children?: string;
}

export function CopyButton({ text, label, children }: Props) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said === "") return;
    const timer = window.setTimeout(() => {
      setSaid("");
    }, 2500);
    return () => {
      window.clearTimeout(timer);
    };
  }, [said]);
  const onClick = (): void => {
    copied(text()).then(
      () => {
        setSaid("Copied");
      },
      () => {
        setSaid("Not copied: the browser forbids it");
      },
    );
  };
  return (
    <>
      <button aria-label={label} className="button button-quiet" onClick={onClick} title={label}>
        <Icon name={said === "Copied" ? "check" : "copy"} />
        {children && <span>{children}</span>}
      </button>
      <span className="sr-only" role="status">
        {said}
      </span>
    </>
  );
}

function copied(text: string): Promise<void> {
  // Absent where the page comes over plain http from another machine.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  return clipboard ? clipboard.writeText(text) : Promise.reject(new Error("no clipboard"));
}
