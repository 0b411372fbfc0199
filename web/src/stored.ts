/** What this browser keeps between visits; a browser that keeps nothing is as good as empty. */

export function read(name: string): string {
  try {
    return window.localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

export function write(name: string, value: string): void {
  try {
    if (value) window.localStorage.setItem(name, value);
    else window.localStorage.removeItem(name);
  } catch {
    // Full, or forbidden: it is then asked again next time.
  }
}
