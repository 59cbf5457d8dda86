/** An expressive voice in a call, with a real service that follows cues: who gets them, and who does not (platform.md 6.3). */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { FAULTY_RATE, FaultySpeech } from '../../fixtures/engines/faulty-speech.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const voice = await FaultySpeech.start(t);
const talks = await Talks.start(t, {
  TTS_ENGINES: 'native-compatible,tone',
  REMOTE_NATIVE_URL: voice.url,
  REMOTE_NATIVE_RATE: `${FAULTY_RATE}`,
  REMOTE_NATIVE_LANGUAGES: 'en',
});
talks.model.answer(() => '[laughing] It is ready, [smiles] come by.');

t.test('the model and the engine get cues; caption, record and the model’s history have none', async (t) => {
  const { caller, invite, record } = await talks.meet({ voice: { expressive: true } });
  for (const text of ['Is it?', 'Now?']) caller.send({ type: 'user.message', text });
  const answers = () => shownBy(caller, 'agent').filter((line) => line === 'It is ready, come by.');
  await until(
    'both are answered',
    async () => messagesOf(await record()).length >= 3 && answers().length > 0,
  );
  caller.hangUp();
  const said = messagesOf(await talks.ended(invite)).join('\n');
  t.match(said, 'assistant: It is ready, come by.');
  t.notMatch(said, '[');
  t.ok(
    voice.spoken.some((text) => text.includes('[laughing]')),
    'the engine renders it',
  );
  t.notOk(
    voice.spoken.some((text) => text.includes('smiles')),
    'and reads nothing aloud',
  );
  const [instructions, ...rest] = talks.model.asked.at(-1) ?? [];
  t.match(instructions?.content, '[laughing]');
  t.notMatch(JSON.stringify(rest.filter(({ role }) => role === 'assistant')), 'laughing');
});

t.test('a voice whose engine follows none: the model is not told, and publishing warns', async (t) => {
  const german = { voice: { expressive: true, speaking_language: 'de' } };
  const { caller, invite } = await talks.meet(german);
  talks.model.asked.length = 0;
  caller.send({ type: 'user.message', text: 'Ist es fertig?' });
  await until('it is asked', () => talks.model.asked.length > 0);
  t.notMatch(talks.model.asked[0]?.[0]?.content, 'laughing');
  caller.hangUp();
  await talks.ended(invite);
  const { body } = await talks.call('agents', { body: { name: 'A', config: german } });
  const published = await talks.call(`agents/${body['agent_id'] as string}/publish`, { method: 'POST' });
  t.match(JSON.stringify(published.body['warnings']), 'follows no cues');
});
