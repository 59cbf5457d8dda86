/** POST of a text, answered by audio as it is made. */
import type { Expected } from '../audio/answer.js';
import type { Client, Verdict } from './client.js';
import { type HttpAnswer, HttpClient, type HttpRequest, refusalOf } from './http.js';
import { SpeechJudge } from './speech-judge.js';

export interface SpeechParams {
  readonly request: HttpRequest;
  readonly expected: Expected;
}

/** Content types of errors and of pages, never of audio. */
const NO_AUDIO = /json|html|text\//;

export function createSpeech({ request, expected }: SpeechParams): Client {
  const http = new HttpClient();
  const judge = new SpeechJudge(expected);
  const verdictOn = (answer: HttpAnswer, sent: number): (() => Verdict) => {
    const failure = refusalOf(answer) ?? (NO_AUDIO.test(answer.type) ? 'wrong format: no audio' : undefined);
    if (failure !== undefined) return () => ({ failure });
    return judge.later(answer.timeline, answer.body, answer.end, sent);
  };
  return {
    async perform(_index, signal) {
      const sent = performance.now();
      return verdictOn(await http.send(request, signal), sent);
    },
    close: () => http.close(),
  };
}
