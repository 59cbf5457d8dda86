/** Small functions of `contracts/` that most of the gateway relies on, as tables: texts, charsets, errors, references, time-outs. */
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { bytesOf, joinSamples, samplesOf } from '../../contracts/audio.js';
import { withoutByteOrderMark } from '../../contracts/text/byte-order-mark.js';
import {
  type ErrorCode,
  ERRORS,
  errorText,
  isErrorCode,
  isRateLimit,
  ServiceError,
  toServiceError,
} from '../../contracts/errors.js';
import { type IdKind, randomHex, randomIds } from '../../contracts/ids.js';
import { isLanguage, languageOfTag, scriptsOf } from '../../contracts/speech/languages.js';
import { missingVoice, toldMessage } from '../../contracts/speech/missing-voice.js';
import { pausesIn, textsIn } from '../../contracts/speech/pauses.js';
import { allows, isRole, type Permission, type Role, rolesOf } from '../../contracts/permissions.js';
import { replyText } from '../../contracts/outbound/reply-text.js';
import { namedSynthesisModel, namedTranscriptionModel } from '../../contracts/schemas/model-ids.js';
import { type NativeOptions, toNativeSynthesis } from '../../contracts/schemas/native-options.js';
import { optionsFromObject } from '../../contracts/schemas/option-sources.js';
import { refuseOptionHeaders, refuseProviderOptions } from '../../contracts/schemas/refusals.js';
import { foreignMembers } from '../../contracts/schemas/write-only.js';
import { firstBytes, isLonger, wellFormed } from '../../contracts/text/text.js';
import { waitUpTo, withTimeout } from '../../contracts/time/timeouts.js';
import { readToolNews, toolNews } from '../../contracts/tools/news.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';

t.test('a text is as long as its characters, of which a surrogate pair is one', async (t) => {
  const longer: [string, number][] = [['abcd', 3], ['🙂🙂🙂🙂', 3], ['🙂🙂ab', 3], ['a', 0]]; // oxfmt-ignore
  for (const [text, most] of longer) t.ok(isLonger(text, most), text);
  for (const text of ['', 'abc', '🙂🙂🙂', '🙂ab']) t.notOk(isLonger(text, 3), text);
});

t.test('the first bytes of a text hold no half characters', async (t) => {
  const cases: [string, number, string][] = [
    ['abc', 3, 'abc'], ['abc', 2, 'ab'], ['aé', 2, 'a'], ['aé', 3, 'aé'], ['日本', 5, '日'],
    ['日本', 6, '日本'], ['🙂', 3, ''], ['', 0, ''], ['\ufeffa', 4, '\ufeffa'],
  ]; // oxfmt-ignore
  for (const [text, most, first] of cases) t.equal(firstBytes(text, most), first, `${text} in ${most}`);
});

t.test('half a surrogate pair becomes a character, a whole one stays', async (t) => {
  t.equal(wellFormed('a\ud800b\udc00🙂'), 'a\ufffdb\ufffd🙂');
});

t.test('a byte order mark before a text is no part of it, one within is', async (t) => {
  t.equal(withoutByteOrderMark('\ufeff{\ufeff}'), '{\ufeff}');
  t.equal(withoutByteOrderMark('{}'), '{}');
});

t.test('an answer is read in the charset that it names, else as UTF-8', async (t) => {
  const latin = Buffer.from([0x67, 0xfc]);
  const cases: [string | undefined, Buffer, string][] = [
    ['text/plain; charset=iso-8859-1', latin, 'gü'],
    ['text/plain;charset=iso-8859-1', latin, 'gü'],
    ['', Buffer.from('gü'), 'gü'],
    ['text/plain;a=b ; Charset = "iso-8859-1";x', latin, 'gü'],
    ['text/plain', Buffer.from('gü'), 'gü'],
    ['text/plain; charset=klingon', Buffer.from('gü'), 'gü'],
    [undefined, Buffer.from('gü'), 'gü'],
  ];
  const read = (type: string | undefined, body: Buffer, truncated = false) =>
    replyText({ headers: type === undefined ? {} : { 'content-type': type }, body, truncated });
  for (const [type, body, text] of cases) t.equal(read(type, body), text, type ?? 'no type');
  const half = Buffer.from('gü').subarray(0, 2);
  t.equal(read(undefined, half, true), 'g', 'what was cut off is left out');
  t.equal(read(undefined, half), 'g\ufffd', 'what is broken is not');
});

t.test('a spoken line has a text before, between and after its pauses', async (t) => {
  const line = ' One <break time="1.5s"/>two<break  time="800ms" /> ';
  t.strictSame(textsIn(line), ['One', 'two', '']);
  t.strictSame(pausesIn(line), [1500, 800]);
  for (const none of ['<break time="1"/>', '<break time="100000ms"/>', '<break time="-1s"/>', '<break time="1.2345s"/>'])
    t.strictSame([textsIn(none), pausesIn(none)], [[none], []]);
  t.strictSame(pausesIn('<break time="99999ms"/><break\ttime="0.125s" /><break time="10.25ms"/>'), [99_999, 125, 10.25]);
}); // oxfmt-ignore

t.test('a line break in a spoken line is no pause', async (t) => {
  const line = 'One\ntwo\n<break time="1s"/>\nthree';
  t.strictSame(textsIn(line), ['One\ntwo', 'three']);
  t.strictSame(pausesIn(line), [1000]);
});

t.test('languages of tags, and the scripts that they are written in', async (t) => {
  const tags: [string, string | undefined][] = [
    ['eng', 'en'], ['en-GB', 'en'], ['en_GB', 'en'], ['zh-Hant-TW', 'zh'], ['zh_Hant_TW', 'zh'], ['und', undefined], ['auto', undefined],
    ['AUTO', undefined], ['ru', 'ru'],
  ]; // oxfmt-ignore
  for (const [tag, language] of tags) t.equal(languageOfTag(tag), language, tag);
  for (const tag of ['', 'e', 'not a tag']) t.throws(() => languageOfTag(tag), RangeError, tag);
  t.strictSame(scriptsOf('ja'), ['Hiragana', 'Katakana', 'Han']);
  t.strictSame(scriptsOf('xx'), []);
  t.ok(isLanguage('de'));
  t.notOk(isLanguage('ru'));
});

t.test('samples of bytes at an odd place, and of an odd number', async (t) => {
  const bytes = Uint8Array.of(9, 1, 0, 2, 0, 7);
  t.strictSame([...samplesOf(bytes.subarray(1))], [1, 2], 'copied, without the last byte');
  t.strictSame([...samplesOf(Buffer.from(bytes.buffer, 1))], [1, 2], 'of a buffer of Node, too');
  const even = samplesOf(bytes.subarray(2, 4));
  t.strictSame([...even], [512]);
  t.equal(even.buffer, bytes.buffer, 'in place');
  t.equal(samplesOf(bytes).buffer, bytes.buffer);
  const joined = joinSamples([Int16Array.of(1, 2), new Int16Array(0), Int16Array.of(3)]);
  t.strictSame([...joined], [1, 2, 3]);
  t.strictSame([...bytesOf(joined.subarray(1))], [2, 0, 3, 0]);
});

t.test('the database that is away or full is told as such, and everything else is internal', async (t) => {
  const query = 'select 1';
  const cases: [object, string][] = [
    [{ code: 'CONNECTION_CLOSED' }, 'storage_unavailable'],
    [{ code: 'CONNECT_TIMEOUT' }, 'storage_unavailable'],
    [{ code: 'ECONNREFUSED', query }, 'storage_unavailable'],
    [{ code: '08006', query }, 'storage_unavailable'],
    [{ code: '25006', query }, 'storage_unavailable'],
    [{ code: '53300', query }, 'storage_unavailable'],
    [{ code: '57P01', query }, 'storage_unavailable'],
    [{ code: '57014', query }, 'storage_busy'],
    [{ code: '55P03', query }, 'storage_busy'],
    [{ code: 'ENOSPC' }, 'storage_full'],
    [{ code: 'EDQUOT' }, 'storage_full'],
    [{ code: '53100', query }, 'storage_full'],
    [{ code: '53100' }, 'internal'],
    [{ code: 'ECONNREFUSED' }, 'internal'],
    [{ code: '23505', query }, 'internal'],
    [{ code: '250061', query }, 'internal'],
    [{ code: 'XENOSPC' }, 'internal'],
    [{ code: 'ENOSPCX' }, 'internal'],
    [{ code: 'XCONNECTION_CLOSED' }, 'internal'],
    // A moment outside of the database's range.
    [{ code: '22008', query }, 'internal'],
    [{ code: '42530', query }, 'internal'],
    [{ code: '533000', query }, 'internal'],
    [{ code: 'ERR_INVALID_ARG_TYPE', query }, 'internal'],
    [{ code: 25006, query }, 'internal'],
    [{ code: 53100, query }, 'internal'],
    [{}, 'internal'],
  ];
  for (const [fields, code] of cases) {
    const error = Object.assign(new Error('m'), fields);
    t.match(toServiceError(error), { code, cause: error }, JSON.stringify(fields));
  }
  for (const thrown of [{ code: 'ENOSPC' }, { code: 'CONNECTION_CLOSED' }, 'ENOSPC', undefined, null])
    t.match(toServiceError(thrown), { code: 'internal', status: 500 }, 'no error');
  const known = new ServiceError('not_found', { status: 410, retryAfter: 3 });
  t.equal(toServiceError(known), known);
  t.match(known, { name: 'ServiceError', message: 'Not found', status: 410, origin: 'edge', retryAfter: 3 });
  t.ok(isErrorCode('internal'));
  t.notOk(isErrorCode('constructor'));
  t.ok(
    isRateLimit(new ServiceError('rate_limited')) && isRateLimit(new ServiceError('concurrency_exceeded')),
  );
  t.notOk(isRateLimit(new ServiceError('provider_failed', { status: 429 })));
});

/** The statuses of docs/contract, by which clients decide whether to ask again. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'invalid_request malformed_body nothing_to_say unsupported_option unsupported_format model_not_found voice_not_found voice_language cloning_unavailable speakers_unavailable language_unavailable audio_unreadable',
  401: 'missing_key invalid_key expired_key',
  402: 'quota_exceeded',
  403: 'forbidden role_forbidden voice_read_only',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large audio_too_large audio_too_long',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited concurrency_exceeded',
  431: 'head_too_large',
  500: 'internal',
  501: 'unknown_method',
  502: 'engine_failed engine_lost provider_failed context_exceeded transport_failed first_byte_timeout',
  503: 'overloaded memory_exhausted draining storage_unavailable storage_busy storage_full engine_busy',
  505: 'http_version',
};

t.test('each error has its status, and a sentence', async (t) => {
  const codes = Object.entries(STATUSES).flatMap(([status, names]) =>
    names.split(' ').map((code) => [code, Number(status)] as const),
  );
  t.strictSame(codes.map(([code]) => code).sort(), Object.keys(ERRORS).sort());
  for (const [code, status] of codes)
    t.match(new ServiceError(code as ErrorCode), { status, message: /^[A-Z].{5}/, param: undefined }, code);
  t.strictSame(new ServiceError('internal').problems, []);
  const problems = [{ loc: ['a'], type: 'required', message: 'missing field a' }];
  const cause = new Error('cause');
  const options = { message: 'm', param: 'p', problems, status: 418, retryAfter: 0, cause };
  t.match(new ServiceError('internal', options), { ...options, code: 'internal', origin: 'service' });
  for (const thrown of [new Error('m'), 'm']) t.equal(errorText(thrown), 'm');
  t.equal(errorText(undefined), 'undefined');
}); // oxfmt-ignore

t.test('errors that clients know by their words have these words', async (t) => {
  const words = {
    invalid_key: 'Invalid Token',
    quota_exceeded: 'Insufficient API credit',
    concurrency_exceeded: 'You have exceeded your current concurrency limit',
    voice_not_found: 'Reference not found',
    overloaded: 'The server is under high load, try again later',
    first_byte_timeout: 'No response within 5 minutes',
    audio_too_long: 'Audio is longer than 60 minutes',
    head_too_large: 'The request line and the headers are larger than 64 KiB',
  } as const satisfies Partial<Record<ErrorCode, string>>;
  for (const [code, message] of Object.entries(words))
    t.equal(new ServiceError(code as ErrorCode).message, message);
});

t.test('a voice that does not exist is named, with the list of those that do', async (t) => {
  const error = missingVoice('v'.repeat(65), 'voice');
  t.match(error, { code: 'voice_not_found', param: 'voice', message: `Reference not found: no voice "${'v'.repeat(64)}"` });
  t.equal(toldMessage(error, 'GET /voices'), `${error.message}; GET /voices lists the voices`);
  const { message, param } = missingVoice('v');
  t.strictSame([message, param], ['Reference not found: no voice "v"', undefined]);
  t.equal(toldMessage(new ServiceError('not_found'), 'GET /voices'), 'Not found');
}); // oxfmt-ignore

t.test('a model of the other kind is told apart from one that nobody knows', async (t) => {
  const refused = (message: string) => ({ code: 'model_not_found', param: 'model', message });
  const speaking = (id: string) => namedSynthesisModel(id, defaultVocabulary, 'model');
  const hearing = (id: string) => namedTranscriptionModel(id, defaultVocabulary, 'model');
  t.equal(speaking('svc/s1'), 's1');
  t.equal(hearing('whisper-1'), 'transcribe-1');
  t.throws(() => speaking('whisper-1'), refused('This model transcribes; it cannot speak'));
  t.throws(() => hearing('s1'), refused('This model speaks; it cannot transcribe'));
  for (const model of [speaking, hearing]) t.throws(() => model('nobody'), refused('Unknown model'));
});

t.test('rule 6: options for synthesis are refused elsewhere, unless they are unset', async (t) => {
  const refused = (param: string) => ({ code: 'unsupported_option', param, message: `${param} is for synthesis only` });
  const options = (value: unknown) => refuseProviderOptions(value, defaultVocabulary);
  t.throws(() => options({ svc: { latency: 'low' } }), refused('provider.options.svc'));
  for (const unset of [undefined, null, {}, { svc: {} }, { svc: null }, { other: { a: 1 } }]) options(unset);
  const headers = (name: string) => refuseOptionHeaders(new Map([[name, '1']]), defaultVocabulary);
  t.throws(() => headers('x-svc-latency'), { ...refused('X-Svc-*'), message: 'X-Svc-* headers are for synthesis only' });
  headers('x-other');
}); // oxfmt-ignore

t.test('reference audio is bytes with their text, in a list or a list of lists', async (t) => {
  const voiceOf = (options: NativeOptions) =>
    toNativeSynthesis(options, { latency: 'low', voice: () => 'v' });
  const reference = { audio: Uint8Array.of(1), text: 'a' };
  t.match(voiceOf({ references: [[reference], reference] }), {
    references: [reference, reference],
    voice: '',
  });
  t.match(voiceOf({}), { references: [], voice: 'v' });
  t.match(voiceOf({ reference_id: ['a', 'b'] }), { voice: '', speakers: ['a', 'b'] });
  const refused = {
    code: 'invalid_request',
    param: 'references',
    message: /please check your reference audio$/,
  };
  for (const bad of [null, {}, reference, [null], [{ text: 'a' }], [{ ...reference, text: 1 }], [{ ...reference, audio: new Uint8Array(0) }], [[[reference]]]])
    t.throws(() => voiceOf({ references: bad }), refused, JSON.stringify(bad)); // oxfmt-ignore
});

t.test('options of a body are an object, and a fault names its place', async (t) => {
  const read = (value: unknown, path = 'provider.options.svc') => optionsFromObject(value, path);
  for (const none of [undefined, null, {}, { unknown: 1, opus_bitrate: 5, latency: null }])
    t.strictSame(read(none), {});
  t.strictSame(read({ normalize: 'off', prosody: { speed: 2, normalize_loudness: 'False' } }), {
    normalize: false,
    prosody: { speed: 2, normalize_loudness: false },
  });
  const refused = (param: string) => ({ code: 'invalid_request', param });
  for (const bad of ['low', 1, true, [1]]) t.throws(() => read(bad), refused('provider.options.svc'));
  t.throws(() => read('low'), { message: 'provider.options.svc must be of type object' });
  t.throws(() => read({ prosody: { speed: 9 } }), refused('provider.options.svc.prosody.speed'));
  t.throws(() => read({ prosody: 1 }, ''), refused('prosody'));
  t.throws(() => read({ normalize: 'perhaps' }), refused('provider.options.svc.normalize'));
});

t.test('a role permits what docs/keys-and-workspaces.md says', async (t) => {
  const permitted: Readonly<Record<Role, readonly Permission[]>> = {
    full: ['open', 'speech', 'catalogue', 'sessions', 'records', 'read', 'machine', 'manage'],
    speech: ['open', 'speech', 'catalogue'],
    sessions: ['open', 'sessions', 'records'],
    read: ['open', 'catalogue', 'records', 'read'],
    machine: ['open', 'machine'],
  };
  for (const [role, wanted] of Object.entries(permitted)) {
    t.ok(isRole(role));
    t.strictSame(permitted.full.filter((permission) => allows(role as Role, permission)), wanted, role);
  }
  t.strictSame(rolesOf('records'), ['sessions', 'read', 'full'], 'the narrowest first');
  t.strictSame(rolesOf('manage'), ['full']);
  t.notOk(isRole('admin'));
}); // oxfmt-ignore

t.test('ids that a change sends back must be those of the changed object', async (t) => {
  const own = { agent_id: 'a', workspace_id: 'w' };
  t.strictSame(foreignMembers({ ...own, name: 'n' }, own), []);
  t.strictSame(foreignMembers({}, own), []);
  t.strictSame(foreignMembers({ agent_id: 'b', workspace_id: null }, own), ['agent_id', 'workspace_id']);
});

t.test('what a model is told of a tool is found again', async (t) => {
  t.equal(readToolNews(toolNews('find', '{"a":1}', ' 42 has answered: no')), ' 42 has answered: no');
  t.equal(readToolNews('The tool has answered.'), undefined);
});

t.test('ids are random, whatever else was taken from the pool', async (t) => {
  const taken = new Set<string>();
  for (let count = 0; count < 3000; count += 1) {
    taken.add(randomHex(12));
    taken.add(randomIds.next('session'));
    randomHex(count % 7);
  }
  t.equal(taken.size, 6000);
  for (const id of taken) if (!/^(sess_)?[0-9a-f]{24}$/.test(id)) t.fail(id);
  t.equal(randomHex(4096).length, 8192, 'as many as the pool has');
  t.notMatch(randomHex(4096), /0{64}/, 'and then new ones');
});

t.test('an id says what it is the id of', async (t) => {
  const formats: Readonly<Record<IdKind, RegExp>> = {
    generation: /^gen-[0-9a-f]{24}$/,
    workspace: /^ws_[0-9a-f]{24}$/,
    key: /^key_[0-9a-f]{24}$/,
    job: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    voice: /^[0-9a-f]{32}$/,
    event: /^evt_[0-9a-f]{24}$/,
    agent: /^agent_[0-9a-f]{24}$/,
    tool: /^tool_[0-9a-f]{24}$/,
    knowledge: /^ks_[0-9a-f]{24}$/,
    session: /^sess_[0-9a-f]{24}$/,
    scenario: /^scn_[0-9a-f]{24}$/,
    suite: /^suite_[0-9a-f]{24}$/,
    testRun: /^run_[0-9a-f]{24}$/,
    phone: /^phone_[0-9a-f]{24}$/,
    call: /^call_[0-9a-f]{24}$/,
    transfer: /^transfer_[0-9a-f]{24}$/,
  };
  for (const [kind, format] of Object.entries(formats)) t.match(randomIds.next(kind as IdKind), format, kind);
});

/** Work that the test ends as it likes. */
function work() {
  let end: { resolve(value: string): void; reject(error: Error): void } | undefined;
  const promise = new Promise<string>((resolve, reject) => (end = { resolve, reject }));
  return { promise, end: end! };
}

t.test('work is waited for so long and no longer, and leaves no timer', async (t) => {
  const outcomes: readonly [(end: ReturnType<typeof work>['end'], clock: SimulatedClock) => void, unknown, unknown][] = [
    [(end) => end.resolve('done'), 'done', 'done'],
    [(end) => end.reject(new Error('broken')), new Error('broken'), new Error('broken')],
    [(end, clock) => (clock.advance(99), end.resolve('late')), 'late', 'late'],
    [(_, clock) => clock.advance(100), undefined, new Error('no answer in 100 ms')],
  ]; // oxfmt-ignore
  for (const [happens, ...wanted] of outcomes)
    for (const [index, waits] of [waitUpTo<string>, withTimeout<string>].entries()) {
      const clock = new SimulatedClock();
      const { promise, end } = work();
      const outcome = waits(clock, 100, promise).catch((error: unknown) => error);
      happens(end, clock);
      t.strictSame(await outcome, wanted[index]);
      t.equal(clock.pending, 0);
    }
});

t.test('waiting ends with its signal, before it begins or in the middle', async (t) => {
  const clock = new SimulatedClock();
  const abort = new AbortController();
  t.equal(await withTimeout(clock, 100, Promise.resolve('done'), abort.signal), 'done');
  t.strictSame(getEventListeners(abort.signal, 'abort'), [], 'a signal that lives on is left');
  const waiting = withTimeout(clock, 100, work().promise, abort.signal).catch((error: unknown) => error);
  await turn();
  const reason = new Error('left');
  abort.abort(reason);
  t.equal(await waiting, reason);
  t.equal(clock.pending, 0);
  await t.rejects(withTimeout(clock, 100, Promise.resolve('done'), abort.signal), reason);
});
