/** The filler of an agent. */
import t from '../../../../fixtures/tap.js';
import { LANGUAGES } from '../../../../../contracts/speech/languages.js';
import { DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import { fillerOf } from '../../../../../gateway/agents/conversations/settings.js';

t.test("an agent's filler is the owner’s own, one in its language, or none", async (t) => {
  const filler = (tools: Partial<typeof DEFAULT_CONFIG.tools>, language: (typeof LANGUAGES)[number] = 'en') =>
    fillerOf({
      ...DEFAULT_CONFIG,
      tools: { ...DEFAULT_CONFIG.tools, ...tools },
      voice: { ...DEFAULT_CONFIG.voice, speaking_language: language },
    });
  const lines = LANGUAGES.map((language) => filler({}, language));
  t.equal(new Set(lines).size, LANGUAGES.length);
  t.equal(lines.indexOf(''), -1);
  t.equal(filler({ filler_mode: 'off', filler_message: 'Hold on.' }), '');
  t.equal(filler({ filler_mode: 'fixed', filler_message: ' Hold on. ' }), 'Hold on.');
  t.equal(filler({ filler_mode: 'fixed' }), '', 'no words are no filler');
});
