/**
 * A page with the widget in its corner: one script of the gateway, and one element. The API key stays on this server, from
 * which the widget gets its sessions. The page's policy is as strict as it can be.
 */
import { readFile } from 'node:fs/promises';
import { agentOrBakery } from '../bakery.mjs';
import { GATEWAY, stop } from '../gateway.mjs';
import { serveCallPage } from '../web-call/page.mjs';

const { PORT = '3000' } = process.env;

const script = await fetch(`${GATEWAY}/widget.js`);
await script.body?.cancel();
if (!script.ok)
  stop(
    `The gateway at ${GATEWAY} serves no widget: it is older than this example, or was not built by npm start.`,
  );

/** Calls may be on another host than the gateway, as with LiveKit's servers. */
const POLICY = [
  "default-src 'none'",
  `script-src ${GATEWAY}`,
  `connect-src 'self' ${GATEWAY} ws: wss:`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const html = await readFile(new URL('./index.html', import.meta.url), 'utf8');
const page = {
  type: 'text/html; charset=utf-8',
  text: html.replaceAll('%GATEWAY%', GATEWAY),
  headers: { 'content-security-policy': POLICY, 'permissions-policy': 'microphone=(self)' },
};
console.log(await serveCallPage(await agentOrBakery(), Number(PORT), page));
