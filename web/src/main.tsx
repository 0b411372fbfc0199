import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import "./page.css";
import { apply, storedTheme } from "./theme";

apply(storedTheme());
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
