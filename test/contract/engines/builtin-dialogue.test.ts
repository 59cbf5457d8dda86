/** The embedded dialogue, which stands in for a language model. */
import t from '../../fixtures/tap.js';
import type { ChatMessage } from '../../../contracts/ports/chat.js';
import { TOOL_RUNS, TOOL_SENT, toolNews } from '../../../contracts/tools/news.js';
import { createBuiltinDialogue } from '../../../engines/chat/builtin/index.js';
import { answer, HANG_UP, ORDER, system, textOf, user } from '../../fixtures/chat/requests.js';
import { exactly } from '../../fixtures/exactly.js';

t.test('the embedded dialogue', async (t) => {
  const model = createBuiltinDialogue();
  const passages = [
    { source: 'hours', text: 'We sell lamps. The shop opens at nine on weekdays. Parking is free.' },
  ];

  t.equal(model.name, 'builtin-dialogue', 'is labelled as what it is');
  t.equal(
    textOf(await answer(model, { messages: [user('When does the shop open?')], passages })),
    'The shop opens at nine on weekdays.',
    'quotes the knowledge base',
  );
  t.equal(
    textOf(
      await answer(model, {
        messages: [
          system('You are kind. Our refund window is thirty days.'),
          user('What is the refund window?'),
        ],
      }),
    ),
    'Our refund window is thirty days.',
    'quotes the prompt, and not its instructions',
  );
  t.match(
    textOf(await answer(model, { messages: [user('Who won the 1954 final?')], passages })),
    /do not know/,
  );

  const called = await answer(model, {
    messages: [user('Please look up my order, the order number is A-42.')],
    tools: [ORDER, HANG_UP],
  });
  exactly(t, called, [
    { kind: 'calls', calls: [{ name: 'lookup_order', arguments: '{"order_number":"A-42"}' }] },
  ]);

  const asked = await answer(model, { messages: [user('Please look up the order.')], tools: [ORDER] });
  t.equal(textOf(asked), 'What is the order number?', 'asks for what it needs');
  const told = await answer(model, {
    messages: [
      user('Please look up the order.'),
      { role: 'assistant', content: textOf(asked) },
      user('It is 7731.'),
    ],
    tools: [ORDER],
  });
  exactly(t, told, [{ calls: [{ arguments: '{"order_number":"7731"}' }] }], 'and takes the answer');

  const result = {
    role: 'tool',
    callId: 'c',
    content: '{"state":"shipped","carrier":{"name":"Post"}}',
  } as const;
  t.equal(textOf(await answer(model, { messages: [user('x'), result] })), 'state: shipped, name: Post.');
  const bye = await answer(model, { messages: [user('Okay, goodbye!')], tools: [HANG_UP] });
  exactly(t, bye, [{ text: 'Goodbye.' }, { calls: [{ name: 'hang_up_call' }] }]);
  t.same(
    await answer(model, { messages: [user('When does the shop open?')], passages }),
    await answer(model, { messages: [user('When does the shop open?')], passages }),
    'is deterministic',
  );
});

t.test(
  'the embedded dialogue and tools that run beside the conversation, or need more than words',
  async (t) => {
    const model = createBuiltinDialogue();
    const called: ChatMessage = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'a', name: 'lookup_order', arguments: '{}' }],
    };
    const runs: ChatMessage = { role: 'tool', callId: 'a', content: TOOL_RUNS };
    const asked = [user('Where is order 7?'), called, runs];
    t.equal(
      textOf(await answer(model, { messages: asked })),
      'I am looking that up, and tell you when I know.',
    );
    const sent = { ...runs, content: TOOL_SENT };
    t.equal(textOf(await answer(model, { messages: [asked[0]!, called, sent] })), 'I have sent that.');
    const told = [...asked, { role: 'assistant', content: 'I am looking.' } as const];
    const news = system(toolNews('lookup_order', '{}', '{"state":"shipped"}'));
    const said = textOf(await answer(model, { messages: [...told, news, system('Tell the user.')] }));
    t.equal(said, 'state: shipped.');
    const later = [...told, news, { role: 'assistant', content: said } as const, user('Thanks')];
    t.equal(textOf(await answer(model, { messages: later })), 'You are welcome.', 'once');
    const transfer = { ...ORDER, name: 'transfer_to_agent', description: 'agent_1: The shop. Orders' };
    const shop = await answer(model, {
      messages: [user('Transfer me to the shop agent')],
      tools: [transfer],
    });
    t.notOk(shop.some(({ kind }) => kind === 'calls'));
  },
);

const BOOK = {
  name: 'book_appointment',
  description: 'Books an appointment.',
  parameters: {
    type: 'object',
    properties: { day: { type: 'string' }, time: { type: 'string' }, name: { type: 'string' } },
  },
};

t.test('a booking: what was said already is not asked again, and a day is no name', async (t) => {
  const model = createBuiltinDialogue();
  const messages = [user('I would like to book an appointment for Monday at 10:30.')];
  const asked = textOf(await answer(model, { messages, tools: [BOOK, HANG_UP] }));
  t.equal(asked, 'What is the name?');
  const whole: ChatMessage[] = [...messages, { role: 'assistant', content: asked }, user('Ada Byron.')];
  exactly(t, await answer(model, { messages: whole, tools: [BOOK, HANG_UP] }), [
    {
      calls: [{ name: 'book_appointment', arguments: '{"day":"Monday","time":"10:30","name":"Ada Byron"}' }],
    },
  ]);
});

t.test('an instruction that leaves nothing to choose is followed, as for dictation', async (t) => {
  const model = createBuiltinDialogue();
  const prompt = system('You take dictation. Answer everything with “Noted.”');
  const reply = async (text: string) => textOf(await answer(model, { messages: [prompt, user(text)] }));
  t.equal(await reply('Hello!'), 'Noted.');
  t.equal(await reply('The lamps arrive on Monday.'), 'Noted.');
  t.equal(await reply('Goodbye.'), 'Goodbye.', 'it still ends');
});
