/** For bundlers: `import 'speech-gateway-client/widget'` makes `<speech-agent>` known to the page. */
import { define } from './element.js';

export { SpeechAgentElement } from './element.js';
export type { Texts } from './texts.js';

define();
