/** Settings of the processes of a gateway, and of what it tells its operator. */
import { choice, count } from './setting.js';

export const OPERATION = {
  logLevel: choice(
    'LOG_LEVEL',
    'info',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'Lowest level that is logged.',
  ),
  logFormat: choice(
    'LOG_FORMAT',
    'auto',
    ['auto', 'json', 'text'],
    'Lines of the log: JSON, or text for people; auto takes text on a terminal. With json the greeting is a line, too.',
  ),
  startChecks: choice(
    'START_CHECKS',
    'on',
    ['on', 'off'],
    'Whether the language model, remote engines, the bucket and servers of ICE_SERVERS are asked something cheap at the start, and while they fail.',
  ),
  workers: count('WORKERS', 1, [1, 64], 'Gateway processes that share the port.'),
  ttsProcesses: count('TTS_PROCESSES', 1, [1, 64], 'Processes for each engine that speaks.'),
  sttProcesses: count('STT_PROCESSES', 1, [1, 64], 'Processes for each engine that transcribes.'),
  encodeProcesses: count('ENCODE_PROCESSES', 1, [1, 64], 'Processes that encode audio.'),
  mediaProcesses: count('MEDIA_PROCESSES', 1, [1, 64], 'Media workers, which carry calls.'),
};
