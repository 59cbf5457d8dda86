/** The address of the script that runs; undefined in a module. It is known only while the script is run for the first time. */
const script = globalThis.document?.currentScript;
export const scriptAddress =
  script instanceof HTMLScriptElement && script.src !== '' ? script.src : undefined;
