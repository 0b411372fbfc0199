/** Names that nobody else has given: of conversations and of idempotency keys. */

export function newName(): string {
  // randomUUID is there only under https and on localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
