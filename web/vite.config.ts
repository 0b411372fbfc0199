import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The gateway that `npm run dev` talks to; the built page is served by the gateway itself.
const GATEWAY = process.env.VERITY_GATEWAY ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: { target: "es2022", sourcemap: false },
  server: { proxy: { "/v1": GATEWAY, "/grounded_query": GATEWAY } },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
