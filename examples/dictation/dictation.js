/**
 * Sends what is said to the gateway's realtime socket, and writes the transcripts into the text. Silence is not sent: a
 * sentence begins some pieces before its first sound, and is committed when it has been quiet for a while.
 */
const VOICE = 0.01;
/** Pieces of 100 ms. */
const BEFORE = 4;
const QUIET = 8;
/** A sentence may be so long. */
const LONGEST = 300;

const [start, finish, state, text, growing] = ['start', 'finish', 'state', 'text', 'growing'].map((id) =>
  document.getElementById(id),
);

const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

/** Finds sentences in pieces of sound. `send(pcm)` gets those of a sentence, `end()` is called behind its last one. */
function sentences({ send, end }) {
  let before = [];
  let length = 0;
  let quiet = 0;
  function close() {
    if (length > 0) end();
    length = 0;
    quiet = 0;
  }
  function hear({ pcm, loudness }) {
    const voice = loudness > VOICE;
    if (length === 0 && !voice) return void (before = [...before, pcm].slice(-BEFORE));
    for (const piece of [...before, pcm]) send(piece);
    before = [];
    length += 1;
    quiet = voice ? 0 : quiet + 1;
    if (quiet >= QUIET || length >= LONGEST) close();
  }
  return { hear, close };
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** What the gateway tells; `over` is called with the reason when nothing more comes. */
const handlers = (over) => ({
  [`${TRANSCRIPTION}.delta`]: ({ delta }) => (growing.textContent += delta),
  [`${TRANSCRIPTION}.completed`]: ({ transcript }) => {
    growing.textContent = '';
    if (transcript) text.value += `${text.value ? ' ' : ''}${transcript}`;
  },
  [`${TRANSCRIPTION}.failed`]: ({ error }) => (state.textContent = error.message),
  error: ({ error }) => over(error.message),
});

async function open() {
  const response = await fetch('/secret', { method: 'POST' });
  if (!response.ok) throw new Error(await response.text());
  const { address, secret, rate } = await response.json();
  const socket = new WebSocket(address, ['realtime', `openai-insecure-api-key.${secret}`]);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`No connection to ${new URL(address).host}`));
  });
  return { socket, rate };
}

async function listen(rate, hear) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext({ sampleRate: rate });
  await context.audioWorklet.addModule('/microphone.js');
  const microphone = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
  microphone.port.onmessage = ({ data }) => hear(data);
  context.createMediaStreamSource(stream).connect(microphone);
  return async () => {
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  };
}

async function dictate() {
  const { socket, rate } = await open();
  const send = (event) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(event));
  const said = sentences({
    send: (pcm) => send({ type: 'input_audio_buffer.append', audio: base64(pcm) }),
    end: () => send({ type: 'input_audio_buffer.commit' }),
  });
  const silence = await listen(rate, said.hear);
  let over = false;
  async function end(why) {
    if (over) return;
    over = true;
    await silence();
    said.close();
    state.textContent = why;
    start.disabled = false;
    finish.disabled = true;
  }
  const told = handlers(end);
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    told[event.type]?.(event);
  };
  socket.onclose = () => end('off');
  finish.onclick = () => end('off');
  state.textContent = 'listening';
  finish.disabled = false;
}

start.onclick = async () => {
  start.disabled = true;
  await dictate().catch((error) => {
    state.textContent = error.message;
    start.disabled = false;
  });
};
document.title = 'ready';
