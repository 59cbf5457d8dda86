/**
 * The `decode-once` child: one uploaded file to 16 kHz mono PCM on standard output, started by
 * codecs/decode under its limits. Arguments: the file, FFmpeg's name of its container.
 * Exit code 0 when the file was read to its end, 2 when not; PCM that came before an error stands.
 */
import { decodeToStdout } from '../../codecs/decode/node-av.js';

const [, , file, demuxer] = process.argv;
if (file === undefined || demuxer === undefined) throw new Error('decode-once is started by the gateway');
process.exitCode = decodeToStdout(file, demuxer) ? 0 : 2;
