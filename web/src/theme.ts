/** Light, dark, or as the system says. */
import { useState } from "react";
import { read, write } from "./stored";

export type Theme = "system" | "light" | "dark";

const NAME = "verity.theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function storedTheme(): Theme {
  const theme = read(NAME);
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): { theme: Theme; next: Theme; turn: () => void } {
  const [theme, setTheme] = useState(storedTheme);
  const next = NEXT[theme];
  const turn = (): void => {
    apply(next);
    write(NAME, next === "system" ? "" : next);
    setTheme(next);
  };
  return { theme, next, turn };
}
