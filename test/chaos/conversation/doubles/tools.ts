/** A shop behind a webhook tool, which counts its orders; its faults can be switched, for each call (the end of the address) or for all. */
import { remoteService } from '../../../fixtures/engines/remote-service.js';
import { HTTP_FAULTS, type HttpFault, isHttpFault } from './http.js';
import { Switch } from './switch.js';

/** `slow`: answers after SLOW_MS; `huge`: answers megabytes. */
export type ToolFault = HttpFault | 'slow' | 'huge';

export const SLOW_MS = 4000;
const HUGE = 'ordered '.repeat(512 * 1024);

export interface ToolDouble {
  /** Followed by the name of the call. */
  readonly url: string;
  readonly faults: Switch<ToolFault>;
  /** The idempotency keys of a call's orders, one for each request. */
  ordersOf(call: string): readonly string[];
}

export async function startToolDouble(t: { teardown(end: () => void): void }): Promise<ToolDouble> {
  const service = await remoteService(t);
  const faults = new Switch<ToolFault>();
  const orders = new Map<string, string[]>();
  service.answers((response, _, { url = '', headers }) => {
    const call = url.split('/').at(-1) ?? '';
    orders.set(call, [...(orders.get(call) ?? []), String(headers['idempotency-key'] ?? '')]);
    const fault = faults.of(call);
    if (isHttpFault(fault)) return HTTP_FAULTS[fault](response);
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (fault === 'slow') setTimeout(() => response.end('ordered'), SLOW_MS);
    else response.end(fault === 'huge' ? HUGE : 'ordered');
  });
  return { url: `${service.url}/order`, faults, ordersOf: (call) => orders.get(call) ?? [] };
}
