import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./page.css";

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <h1>Verity</h1>
    </StrictMode>,
  );
}
