/** The language model, remote voices and recognisers, analyses (ops/monitoring/incidents.mjs says what the fields are). */
import { second } from './faults.mjs';

export const MODEL = {
  title: 'The language model',
  metric: 'gateway_part_failing{part="model"} == 1',
  alert: 'GatewayModelFails',
  health: 'parts.model',
  console: 'Calls: the mark "answers failed"; in the call, the error of the turn',
  back: 'The language model (…) at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say "Sorry, I could not answer that", or a second model answers',
      log: 'The language model (…) at … refused the key (401): check …',
      todo: 'Give it a key that its server takes, and restart.',
      settings: ['LLM_API_KEY', 'LLM_FALLBACK_API_KEY'],
      faults: second(['model refuses the key']),
    },
    {
      symptom: 'The same',
      log: 'The language model (…) at … cannot be reached (ECONNREFUSED): check LLM_BASE_URL',
      todo: 'Start the server, or correct its address. Is there a firewall between?',
      settings: ['LLM_BASE_URL', 'LLM_FALLBACK_BASE_URL'],
      faults: ['model refuses connections'],
    },
    {
      symptom: 'The same',
      log: 'The language model (…) at … failed (…)',
      todo: 'Look into the log of its server. Is its model loaded, and has it memory left?',
      settings: ['LLM_MODEL', 'LLM_FALLBACK_BASE_URL'],
      faults: second(['model closes connections', 'model answers 500']),
    },
    {
      symptom: '"One moment", then "Sorry, I could not answer that"',
      log: 'The language model (…) at … did not answer in time',
      todo: 'It is overloaded, or thinks for longer than a caller waits: a smaller model, fewer calls (`CALL_PLACES`), a second model.',
      settings: ['LLM_FIRST_WORD_SECONDS', 'LLM_FALLBACK_BASE_URL'],
      faults: second([
        'model hangs',
        'model stalls in mid-sentence',
        'model thinks for ever',
        'model sends blank lines',
      ]),
    },
    {
      symptom: 'Answers are missing or end in mid-sentence',
      log: 'The language model (…) at … answered something unexpected',
      todo: 'Its server is not compatible, or its template is another model’s: try it with curl.',
      settings: ['LLM_BASE_URL', 'LLM_MODEL'],
      faults: second(['model answers nothing']),
    },
    {
      symptom: 'Agents say "Sorry, I could not answer that", or a second model answers',
      log: 'The language model (…) at … knows no such address or model (404): check LLM_BASE_URL and LLM_MODEL',
      todo: 'Set the name of a model that its server has (`GET …/models` lists them), or correct the path of its address.',
      settings: ['LLM_MODEL', 'LLM_BASE_URL'],
      faults: ['model knows no such model'],
    },
    {
      symptom: 'The same',
      log: 'The language model (…) at … takes no more: too many requests, or its credit is used up (429): check LLM_API_KEY',
      todo: 'Look at the account of that key: its credit, and its requests a minute. A second model takes over meanwhile.',
      settings: ['LLM_API_KEY', 'LLM_FALLBACK_BASE_URL'],
      faults: ['model takes no more'],
    },
    {
      symptom: 'Answers from knowledge miss what is said in other words; sources stay "pending" or "failed"',
      log: 'The language model (embeddings) at … cannot be reached (ECONNREFUSED): check EMBEDDING_BASE_URL',
      todo: 'Start the server of embeddings, or correct its address, model and key. Agents search by words alone meanwhile, and sources are indexed once it answers.',
      settings: ['EMBEDDING_BASE_URL', 'EMBEDDING_MODEL', 'EMBEDDING_API_KEY'],
      faults: [],
    },
    {
      symptom: 'The same, from the start on',
      log: 'The language model (…) at … answered something that is no list of models: check …',
      todo: 'Something else answers there, such as a web page: correct the address, which mostly ends in `/v1`.',
      settings: ['LLM_BASE_URL', 'LLM_FALLBACK_BASE_URL'],
      faults: [],
    },
  ],
};

/** What a service refuses though its key is right, and what is no service. */
const refusals = (kind, who, setting) => [
  {
    symptom: 'The same',
    log: `${who} (…) at … knows no such address or model (404): check …`,
    todo: 'Set the name of a model that the service has, or correct its address.',
    settings: ['REMOTE_OPENAI_URL', 'REMOTE_NATIVE_URL'],
    faults: [`${kind} knows no such model`],
  },
  {
    symptom: 'The same',
    log: `${who} (…) at … takes no more: too many requests, or its credit is used up (429): check …`,
    todo: `Look at the account of that key: its credit, and its requests a minute. Another engine in \`${setting}\` takes over meanwhile.`,
    settings: [setting],
    faults: [`${kind} takes no more`],
  },
  {
    symptom: 'The same, from the start on',
    log: `${who} (…) at … answered something that is no JSON: check …`,
    todo: 'Something else answers there, such as a web page: correct the address.',
    settings: ['REMOTE_OPENAI_URL', 'REMOTE_NATIVE_URL'],
    faults: [],
  },
];

const voiceOrRecogniser = (kind, who, title, setting, symptom) => ({
  title,
  metric: `gateway_part_failing{part="${kind}"} == 1`,
  alert: `Gateway${kind[0].toUpperCase()}${kind.slice(1)}Fails`,
  health: `parts.${kind}`,
  console:
    'Calls: the mark "answers failed", if no other engine took over; in the call, the error of the turn',
  back: `${who} (…) at … is back after … s`,
  incidents: [
    {
      symptom,
      log: `${who} (…) at … refused the key (401): check …`,
      todo: 'Give it a key that the service takes, and restart. Callers of the speech APIs get 502, never 401.',
      settings: ['REMOTE_OPENAI_KEY', 'REMOTE_NATIVE_KEY'],
      faults: second([`${kind} refuses the key`]),
    },
    {
      symptom: 'The same',
      log: `${who} (…) at … failed (…)`,
      todo: `Look into the service’s log. Another engine in \`${setting}\` takes over while it fails.`,
      settings: [setting],
      faults: second([
        `${kind} closes connections`,
        `${kind} answers 500`,
        `${kind} breaks off in the middle`,
      ]),
    },
    {
      symptom: 'The same, seconds later',
      log: `${who} (…) at … did not answer in time`,
      todo: `The service is overloaded. Another engine in \`${setting}\` takes over after three seconds.`,
      settings: [setting],
      faults: second([`${kind} hangs`, `${kind} stops in the middle`]),
    },
    {
      symptom: 'The same',
      log: `${who} (…) at … answered something unexpected`,
      todo: 'Is it the right address, format and rate? Try the service with curl.',
      settings: ['REMOTE_OPENAI_URL', 'REMOTE_NATIVE_URL', 'REMOTE_OPENAI_FORMAT', 'REMOTE_OPENAI_RATE'],
      faults: second([`${kind} answers nothing`]),
    },
    ...refusals(kind, who, setting),
  ],
});

export const VOICE = voiceOrRecogniser(
  'voice',
  'The voice service',
  'Remote voices',
  'TTS_ENGINES',
  'Agents speak with another voice, or nothing is heard of an answer',
);
export const RECOGNISER = voiceOrRecogniser(
  'recogniser',
  'The recogniser',
  'Remote recognisers',
  'STT_ENGINES',
  'Agents say "I did not get that", or understand less',
);

export const ANALYSIS = {
  title: 'Analyses of calls',
  metric: 'gateway_part_failing{part="analysis"} == 1',
  alert: 'GatewayAnalysisFails',
  health: 'parts.analysis',
  console: 'Calls: the call has no summary, and its analysis an error',
  back: 'The analysis of calls (…) is back after … s',
  incidents: [
    {
      symptom: 'Calls have no summary, post-call events no analysis',
      log: 'The analysis of calls (…) is not possible: the language model did not answer as asked: check LLM_MODEL',
      todo: 'The model does not write the JSON that it is asked for: take another one. If the line ends with "failed, as the language model did", that one has a line of its own.',
      settings: ['LLM_MODEL'],
      faults: ['analysis is not understood'],
    },
  ],
};
