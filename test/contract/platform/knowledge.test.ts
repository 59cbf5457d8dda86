/** Knowledge sources: forms, bounds, revisions, references, search (docs/contract/platform.md 6.1). */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createKnowledge } from '../../../storage/agents/knowledge.js';
import { passagesOf } from '../../../storage/agents/knowledge-chunks.js';
import { wordsOf } from '../../../storage/agents/knowledge-terms.js';
import { keepWords } from '../../../storage/agents/knowledge-upkeep.js';
import { exactly } from '../../fixtures/exactly.js';
import { pdfOf } from '../../fixtures/knowledge/pdf.js';
import { formOf, type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);
const { call, database, workspaceId } = platform;
const SOURCES = '/v1/agent/knowledge-sources';
const knowledge = createKnowledge({ sql: database.sql, ids: randomIds });

const file = (content: string | Uint8Array<ArrayBuffer>, name = 'a.txt'): File => new File([content], name);
const post = (fields: Record<string, string | File>) => call('POST', SOURCES, { raw: formOf(fields) });

t.test('a source is created with its content', async (t) => {
  const content = '# Opening hours\r\n\r\nWe öffnen at seven.\n';
  const { status, body } = await post({
    source: file(content, 'hours.MD'),
    name: 'Hours',
    description: 'When',
  });
  t.equal(status, 201);
  const { knowledge_source_id: id, created_at: created, updated_at: updated, ...rest } = body;
  t.match(id, /^ks_[0-9a-f]{24}$/);
  t.equal(created, updated);
  t.strictSame(rest, {
    workspace_id: workspaceId,
    name: 'Hours',
    description: 'When',
    file_name: 'hours.MD',
    size_bytes: Buffer.byteLength(content),
    chunk_count: 1,
    language: 'en',
    indexing: 'off',
    revision_number: 1,
    content,
  });
  t.strictSame((await call('GET', `${SOURCES}/${id as string}`)).body, body);
  const listed = (await call('GET', SOURCES)).body;
  const { content: _, ...row } = body;
  t.strictSame((listed['knowledge_sources'] as Json[])[0], row, 'rows have no content');
  t.equal((await post({ source: file('x', 'only.txt') })).body['name'], 'only.txt', 'named after its file');
});

t.test('bounds of the form, on both sides', async (t) => {
  const most = LIMITS.knowledge.sourceBytes;
  const source = file('x');
  const good: Record<string, string | File>[] = [
    { source: file('x'.repeat(most)) },
    { source: file('é'.repeat(most / 2)) },
    { source, name: 'n', description: '' },
    { source, name: 'n'.repeat(120), description: 'd'.repeat(2000) },
    { source: file('x', `${'n'.repeat(251)}.txt`) },
  ];
  const bad: [Record<string, string | File>, status: number, place?: string][] = [
    [{ source: file('x'.repeat(most + 1)) }, 413],
    [{ source: file('x'.repeat(3 * most)) }, 413],
    ...['', ' \r\n\t', '\ufeff'].map((text): [Record<string, File>, number, string] => [
      { source: file(text) },
      422,
      'source',
    ]),
    [{ source: file(new Uint8Array([0xff, 0xfe, 0x41])) }, 400],
    [{ source: file(new Uint8Array([0xc3])) }, 400],
    [{ source: file('a\0b') }, 400],
    [{ source, name: '' }, 422, 'name'],
    [{ source, name: 'n'.repeat(121) }, 422, 'name'],
    [{ source, description: 'd'.repeat(2001) }, 422, 'description'],
    [{ source, colour: 'red' }, 422, 'colour'],
    [{ source, other: file('x') }, 400],
    [{ other: file('x') }, 422, 'source'],
    [{ name: 'n' }, 422, 'source'],
    [{ source: 'text' }, 422, 'source'],
    [{ source: file('x', 'a.pdf') }, 422, 'source'],
    [{ source: file('x', 'md') }, 422, 'source'],
    [{ source: file('x', `${'n'.repeat(252)}.txt`) }, 422, 'source'],
    [{ source, name: 'a\0' }, 422, 'name'],
  ];
  for (const fields of good) t.equal((await post(fields)).status, 201);
  for (const [fields, status, place] of bad) {
    const answer = await post(fields);
    t.equal(answer.status, status, `${place} ${answer.text.slice(0, 100)}`);
    if (place !== undefined) t.equal(places(answer)[0], place);
  }
  t.equal((await call('POST', SOURCES, { body: { name: 'n' } })).status, 415);
  t.equal(
    (await call('POST', SOURCES, { raw: 'x', headers: { 'content-type': 'multipart/form-data' } })).status,
    400,
  );
});

t.test('of a PDF and a web page the text is kept, and found', async (t) => {
  const pdf = pdfOf([[{ text: 'Parking', isHeading: true }, { text: 'Behind the house.' }]]);
  const kept = {
    content: '## Parking\nBehind the house.',
    size_bytes: 28,
    file_name: 'House.PDF',
    chunk_count: 1,
  };
  const { status, body } = await post({ source: file(pdf, 'House.PDF') });
  t.equal(status, 201);
  exactly(t, body, { ...kept, name: 'House.PDF' });
  const id = body['knowledge_source_id'] as string;
  const change = (name: string, content: string) =>
    call('PATCH', `${SOURCES}/${id}`, { raw: formOf({ source: file(content, name) }) });
  exactly(t, await change('house.html', '<h1>Dogs</h1><p>Dogs may come in.'), {
    body: { content: '# Dogs\nDogs may come in.', revision_number: 2 },
  });
  const [found] = await knowledge.search(workspaceId, [{ sourceId: id, revision: 2 }], 'dogs', 1);
  t.equal(found?.text, '# Dogs\nDogs may come in.');
  const refused: [name: string, content: string, status: number, message: RegExp][] = [
    ['a.pdf', 'Hello', 422, /source is no PDF/],
    ['a.htm', '<script>x</script>', 422, /source has no text/],
    ['a.html', `<p>${'x'.repeat(LIMITS.document.textBytes + 1)}`, 422, /more than 1 MB of text/],
    ['a.html', ' '.repeat(LIMITS.document.bytes + 1), 413, /larger than 10 MB/],
    ['a.docx', 'x', 422, /\.md, \.txt, \.pdf or \.html/],
  ];
  for (const [name, content, status, message] of refused) {
    const answer = await change(name, content);
    t.equal(answer.status, status, name);
    t.match(answer.text, message);
  }
});

t.test('a change keeps what is absent; a file is a new revision', async (t) => {
  const id = await platform.source('one', 'one.md');
  const patch = async (fields: Record<string, string | File>) =>
    (await call('PATCH', `${SOURCES}/${id}`, { raw: formOf(fields) })).body;
  exactly(t, await patch({ name: 'N' }), {
    name: 'N',
    description: '',
    content: 'one',
    revision_number: 1,
    file_name: 'one.md',
  });
  exactly(t, await patch({ description: 'D' }), { name: 'N', description: 'D', revision_number: 1 });
  const two = await patch({ source: file('two and more', 'two.txt') });
  exactly(t, two, {
    name: 'N',
    content: 'two and more',
    revision_number: 2,
    file_name: 'two.txt',
    size_bytes: 12,
  });
  for (const source of [file('x', 'x.pdf'), file('', 'x.md')]) {
    const refused = await call('PATCH', `${SOURCES}/${id}`, { raw: formOf({ source, name: 'M' }) });
    t.equal(refused.status, 422);
  }
  t.strictSame((await call('GET', `${SOURCES}/${id}`)).body, two, 'a refused change changes nothing');

  const many = Array.from({ length: 8 }, (_, index) => patch({ source: file(`content ${index}`) }));
  const revisions = (await Promise.all(many)).map(({ revision_number: revision }) => revision as number);
  t.strictSame(
    revisions.sort((a, b) => a - b),
    [3, 4, 5, 6, 7, 8, 9, 10],
  );
});

t.test('agents of a source, deletion, other workspaces', async (t) => {
  const id = await platform.source();
  const agent = await platform.agent({
    name: 'A',
    config: { knowledge_base: { knowledge_source_ids: [id] } },
  });
  t.strictSame((await call('GET', `${SOURCES}/${id}/agents`)).body, {
    agents: [{ agent_id: agent, name: 'A' }],
    total: 1,
  });
  const refused = await call('DELETE', `${SOURCES}/${id}`);
  t.equal(refused.status, 409);
  t.match(refused.body['message'], /^Knowledge source is attached to 1 agent/);
  const theirs = { key: platform.otherKey };
  const routes: [string, string, FormData?][] = [['GET', ''], ['PATCH', '', formOf({ name: 'x' })], ['DELETE', ''], ['GET', '/agents']]; // oxfmt-ignore
  for (const [method, path, raw] of routes) {
    const answer = await call(method, `${SOURCES}/${id}${path}`, { ...theirs, ...(raw ? { raw } : {}) });
    t.strictSame([answer.status, answer.body], [404, { status: 404, message: 'Knowledge source not found' }]);
  }
  await call('DELETE', `/v1/agent/agents/${agent}`);
  t.equal((await call('DELETE', `${SOURCES}/${id}`)).status, 204);
  t.equal((await call('GET', `${SOURCES}/${id}`)).status, 404);
  const [row] =
    await database.sql`select count(*)::int as count from knowledge_chunks where source_id = ${id}`;
  t.equal(row?.['count'], 0);
});

t.test('lists, searched and in pages', async (t) => {
  await database.sql`delete from knowledge_sources where workspace_id = ${workspaceId}`;
  for (const name of ['Alpha', 'Beta', 'Gamma']) await post({ source: file('x'), name });
  const list = async (query: string) => (await call('GET', `${SOURCES}?${query}`)).body;
  const names = (page: Json) => (page['knowledge_sources'] as Json[]).map(({ name }) => name);
  t.strictSame(names(await list('')), ['Gamma', 'Beta', 'Alpha']);
  t.strictSame(names(await list('search=ET')), ['Beta']);
  const first = await list('page_size=2&include_total=1');
  t.strictSame([names(first), first['total']], [['Gamma', 'Beta'], 3]);
  t.strictSame(names(await list(`page_size=2&cursor=${first['next_cursor'] as string}`)), ['Alpha']);
  t.equal((await call('GET', `${SOURCES}?page=0`)).status, 400);
});

const GUIDE = `# Bakery

Welcome to the bakery on Main Street.

## Opening hours

We are open Monday to Friday from seven in the morning until six in the evening.

## Delivery

Orders above thirty euros are delivered free of charge. A delivery takes two days.

## Allergies

Our walnut bread contains nuts and gluten.
`;

t.test('search finds the passage that a question asks for', async (t) => {
  const id = await platform.source(GUIDE, 'guide.md');
  const japanese = await platform.source(
    '# 営業時間\n\n月曜日から金曜日まで、朝七時から営業しています。\n\n# 配達\n\n配達には二日かかります。',
    'ja.md',
  );
  const sources = [{ sourceId: id, revision: 1 }, { sourceId: japanese, revision: 1 }]; // oxfmt-ignore
  const cases: [question: string, passage: RegExp][] = [
    ['When do you open in the morning?', /from seven/],
    ['How long does a delivery take?', /takes two days/],
    ['Is there something with nuts?', /walnut/],
    ['営業は何時からですか？', /朝七時/],
    ['配達はいつ届きますか', /二日/],
  ];
  for (const [question, passage] of cases) {
    const found = await knowledge.search(workspaceId, sources, question, 2);
    t.match(found[0]?.text, passage, question);
    t.ok(found.length <= 2);
  }
  const none = ['', 'the of and', 'zebra', '\0', "'; drop table tools; --", 'a & b | !c <-> :*'];
  for (const question of none)
    t.strictSame(await knowledge.search(workspaceId, sources, question, 3), [], question);
  t.ok(
    (await knowledge.search(workspaceId, sources, 'bakery '.repeat(100_000), 3)).length > 0,
    'a long question is cut',
  );
  t.strictSame(
    await knowledge.search('ws_other', sources, 'delivery', 3),
    [],
    'another workspace finds nothing',
  );
  t.strictSame(await knowledge.search(workspaceId, [{ sourceId: id, revision: 2 }], 'delivery', 3), []);
  t.strictSame(await knowledge.search(workspaceId, [], 'delivery', 3), []);
});

t.test('words are found by the language of their source, and with or without accents', async (t) => {
  const german = await platform.source(
    '# Öffnungszeiten\n\nDie Bücherei ist für alle geöffnet, und zwar dienstags.\n\n# Kurse\n\nYoga ist montags und für Anfänger.',
    'de.md',
  );
  const spanish = await platform.source(
    '# Envíos\n\nLos envíos son gratuitos y tardan dos días.\n\n# Devoluciones\n\nPuede devolver los artículos con el recibo.',
    'es.md',
  );
  const sources = [german, spanish].map((sourceId) => ({ sourceId, revision: 1 }));
  const cases: [question: string, first: RegExp][] = [
    ['Wann hat die Buecherei geöffnet, also die Bücher?', /dienstags/],
    ['offnungszeit', /dienstags/],
    ['Wann ist der Yogakurs?', /Yoga/],
    ['¿Cuánto tarda un envio?', /gratuitos/],
    ['Quiero devolver un articulo', /recibo/],
    ['Und montags?\nGibt es Kurse?', /Yoga/],
  ];
  for (const [question, first] of cases)
    t.match((await knowledge.search(workspaceId, sources, question, 1))[0]?.text, first, question);
  t.strictSame(
    await knowledge.search(workspaceId, sources, 'und die für', 3),
    [],
    'nothing is said by these',
  );
});

t.test('what the previous release has kept is found, and kept again by its language', async (t) => {
  const id = await platform.source('Die Bücherei ist für alle da, und dienstags ist sie geöffnet.', 'de.md');
  const sources = [{ sourceId: id, revision: 1 }];
  const { sql } = database;
  await sql`update knowledge_chunks set terms = to_tsvector('english', 'Die Bucherei dienstags') where source_id = ${id}`;
  await sql`update knowledge_revisions set language = null where source_id = ${id}`;
  const found = async (question: string) =>
    (await knowledge.search(workspaceId, sources, question, 1)).length;
  t.strictSame([await found('dienstags'), await found('Büchereien')], [1, 0]);
  await Promise.all([keepWords(sql), keepWords(sql)]);
  await keepWords(sql);
  t.strictSame([await found('dienstags'), await found('Büchereien')], [1, 1]);
  t.strictSame(await found('für'), 0);
});

t.test(
  'sources of 8 KiB together are told as they are, whatever the question; above that it is searched (D15)',
  async (t) => {
    const most = LIMITS.knowledge.wholeBytes;
    const dogs = 'We open at seven. Dogs may come in.';
    const hours = await platform.source(dogs, 'hours.md');
    const rest = await platform.source('é'.repeat(most / 2 - 18), 'rest.txt');
    const agent = await platform.agent({
      config: { knowledge_base: { enabled: true, knowledge_source_ids: [hours, rest] } },
    });
    const path = `/v1/agent/agents/${agent}/knowledge/search`;
    const told = async (query: string) =>
      ((await call('POST', path, { body: { query } })).body['passages'] as Json[]).map(({ name, text }) => [
        name,
        text,
      ]);
    for (const query of ['Is my poodle welcome?', 'When are you open?', 'Darf mein Hund herein?'])
      t.strictSame((await told(query))[0], ['hours.md', dogs], query);
    t.equal((await told('zebra')).length, 2, 'all of them, in their order');
    await call('PATCH', `${SOURCES}/${rest}`, { raw: formOf({ source: file('é'.repeat(most / 2 - 17)) }) });
    t.strictSame(await told('zebra'), [], 'one byte more');
    t.strictSame(await told('When are you open?'), [['hours.md', dogs]]);
  },
);

/** Makes a source one that is searched. */
const LARGE = `\n\n${'Flour and water. '.repeat(LIMITS.knowledge.wholeBytes / 16)}`;

t.test('the passages for a question are shown, of the draft and of a version', async (t) => {
  const id = await platform.source(`# Opening hours\n\nWe open at seven.\n\n# Dough${LARGE}`, 'hours.md');
  const agent = await platform.agent({
    config: { knowledge_base: { enabled: true, knowledge_source_ids: [id] } },
  });
  const path = `/v1/agent/agents/${agent}/knowledge/search`;
  const ask = (body: Json, more: { key?: string } = {}) => call('POST', path, { body, ...more });
  const passage = { knowledge_source_id: id, name: 'hours.md', text: '# Opening hours\nWe open at seven.' };
  const { status, body } = await ask({ query: 'When do you open?' });
  t.equal(status, 200);
  exactly(t, body, { enabled: true, passages: [{ ...passage, score: Number, found_by: 'words' }] });
  const pinned = [{ sourceId: id, revision: 1 }];
  const given = await knowledge.search(workspaceId, pinned, 'When do you open?', LIMITS.knowledge.passages);
  t.strictSame((body['passages'] as Json[]).map(({ text, score }) => [text, score]), given.map(({ text, rank }) => [text, rank])); // oxfmt-ignore

  exactly(t, await ask({ query: 'open', version_number: 1 }), {
    status: 404,
    body: { message: 'Version not found' },
  });
  await call('POST', `/v1/agent/agents/${agent}/publish`);
  const longer = formOf({ source: file(`We open at eight.\n\n# Dough${LARGE}`, 'hours.md') });
  await call('PATCH', `${SOURCES}/${id}`, { raw: longer });
  const textsOf = async (more: Json) =>
    ((await ask({ query: 'open', ...more })).body['passages'] as Json[]).map(({ text }) => text);
  t.strictSame(await textsOf({}), ['We open at eight.']);
  t.strictSame(
    await textsOf({ version_number: 1 }),
    [passage.text],
    'a version keeps the revision it was published with',
  );
  t.strictSame((await ask({ query: 'parking' })).body, { enabled: true, passages: [] });
  t.strictSame((await ask({ query: '\u0001 & | ! :*' })).body, { enabled: true, passages: [] });

  await call('PATCH', `/v1/agent/agents/${agent}/config`, { body: { knowledge_base: { enabled: false } } });
  t.strictSame((await ask({ query: 'open' })).body, { enabled: false, passages: [] });
  t.strictSame(places(await ask({ query: 'x'.repeat(LIMITS.knowledge.query + 1) })), ['query']);
  t.strictSame(places(await ask({ query: '' })), ['query']);
  t.equal((await ask({ query: 'open' }, { key: platform.otherKey })).status, 404);
});

t.test('passages: bounded, whole, under their headings', async (t) => {
  const cut = async (text: string): Promise<string[]> => {
    const passages: string[] = [];
    for await (const passage of passagesOf(text)) passages.push(passage);
    return passages;
  };
  t.strictSame((await cut(GUIDE)).length, 4);
  t.match((await cut(GUIDE))[1], /^## Opening hours\nWe are open/);
  t.strictSame(await cut(''), []);
  t.strictSame(await cut(' \n\n \t\n'), []);
  t.strictSame(await cut('# Only a heading'), []);
  const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`);
  for (const text of [words.join(' '), words.join('\n'), words.join('. '), words.join(''), '漢'.repeat(5000), '👍'.repeat(5000), `# H\n${words.join('\n\n')}`]) {
    const passages = await cut(text);
    t.ok(passages.every(({ length }) => length > 0 && length <= LIMITS.knowledge.chunk));
    t.notMatch(passages.join(''), /[\ud800-\udfff]/u, 'no sign is cut in two');
    const bare = (joined: string): string => joined.replaceAll('# H\n', '').replace(/\s/g, '');
    t.equal(bare(passages.join('')), bare(text), 'nothing is lost');
  } // oxfmt-ignore
  t.equal(wordsOf('Café 東京都 ok'), 'Cafe  東京 京都  ok');
});
