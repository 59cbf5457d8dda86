/** When a caller changes the language of a call, and what the agent is then. */
import t from '../../../../../fixtures/tap.js';
import type { SessionPlan } from '../../../../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../../../../contracts/schemas/agent-config.js';
import {
  languagesOf,
  SpokenLanguage,
  spokenIn,
} from '../../../../../../gateway/agents/conversations/hearing/spoken-language.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { standIn } from '../../../../../fixtures/stand-in.js';

const KNOWN = ['en', 'de', 'ja'];
const LONG = 'Ich möchte gerne einen Termin';

t.test('four words change it at once, fewer only twice in a row', async (t) => {
  t.equal(new SpokenLanguage(KNOWN, 'en').heard(LONG, 'de'), 'de');
  const spoken = new SpokenLanguage(KNOWN, 'en');
  t.equal(spoken.heard('Ja.', 'de'), undefined);
  t.equal(spoken.heard('Yes.', 'en'), undefined, 'back again');
  t.equal(spoken.heard('Guten Tag.', 'de'), undefined, 'it begins anew');
  t.equal(spoken.heard('Ja bitte.', 'de'), 'de');
});

t.test('characters count where words are not parted', async (t) => {
  t.equal(new SpokenLanguage(KNOWN, 'en').heard('予約を変更したいのですが', 'ja'), 'ja');
  t.equal(new SpokenLanguage(KNOWN, 'en').heard('はい', 'ja'), undefined);
});

t.test('only languages of the call count, and silence about the language changes nothing', async (t) => {
  const spoken = new SpokenLanguage(KNOWN, 'en');
  t.equal(spoken.heard('Je voudrais un rendez-vous demain', 'fr'), undefined);
  t.equal(spoken.heard('Tak, chciałbym umówić wizytę', 'pl'), undefined);
  t.equal(spoken.heard(LONG, undefined), undefined);
  t.equal(spoken.heard('Ja.', 'de'), undefined);
  t.equal(spoken.heard('Ja.', undefined), undefined);
  t.equal(spoken.heard('Ja.', 'de'), 'de', 'nothing was said against it');
});

t.test('the agent’s own language is always one of its languages', async (t) => {
  t.same(languagesOf({ ...DEFAULT_CONFIG.voice, languages: ['de', 'en', 'de'] }), ['en', 'de']);
  t.same(languagesOf({ ...DEFAULT_CONFIG.voice, languages: null }), ['en']);
});

const plan = standIn<SessionPlan>({
  config: {
    ...DEFAULT_CONFIG,
    voice: { ...DEFAULT_CONFIG.voice, voice_id: 'rms', languages: ['de'] },
    tools: { ...DEFAULT_CONFIG.tools, filler_mode: 'fixed', filler_message: 'Just a second.' },
    conversation: { ...DEFAULT_CONFIG.conversation, recovery_mode: 'off' },
  },
});

t.test(
  'in another language its own sentences give way to usual ones, and a voice to one that speaks it',
  async (t) => {
    const { voice, tools, conversation, prompt } = spokenIn(plan, 'de', 'default').config;
    exactly(t, voice, { speaking_language: 'de', voice_id: 'default' });
    exactly(t, tools, { filler_mode: 'auto' });
    exactly(t, conversation, { recovery_mode: 'off' });
    exactly(t, prompt, { first_message: '' });
    exactly(t, spokenIn(plan, 'de', 'own').config.voice, { voice_id: 'rms' });
    t.equal(spokenIn(plan, 'en', 'own'), plan, 'in its own nothing changes');
  },
);
