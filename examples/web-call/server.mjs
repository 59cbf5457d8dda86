/** A page with a button on which you talk to an agent: the one that AGENT names, or a bakery’s, which is made. */
import { agentOrBakery } from '../bakery.mjs';
import { serveCallPage } from './page.mjs';

const { PORT = '3000' } = process.env;

console.log(await serveCallPage(await agentOrBakery(), Number(PORT)));
