/**
 * Prometheus' matchers of the routes that answer with speech piece by piece: those whose first byte should come soon. Transcription and
 * /with-timestamps, which is one piece, answer when all is done; of sockets only the handshake is timed.
 */
export const SPEECH_ROUTES =
  'route=~".*(tts|speech).*", route!~".*(speech-to-text|}/with-timestamps|live|-input).*"';
