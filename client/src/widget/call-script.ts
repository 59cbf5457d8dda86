/**
 * Stands for client/src/browser.ts in the widget’s script (client/build.mjs): loads it from beside the script when somebody calls. By its whole
 * address, because a script of another origin has none that others could be relative to.
 */
import type { openBrowser as open } from '../browser.js';
import { scriptAddress } from './here.js';

export async function openBrowser(...args: Parameters<typeof open>): Promise<ReturnType<typeof open>> {
  const address = new URL('widget-call.js', scriptAddress ?? location.href).href;
  const loaded = (await import(address)) as { readonly openBrowser: typeof open };
  return loaded.openBrowser(...args);
}
