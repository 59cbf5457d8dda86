/**
 * The widget's look, as a sheet of the shadow root: it needs no permission of the page's policy for styles. Pages change
 * colours and the like by properties whose names begin with `--speech-agent-`.
 */
const LIGHT = `
  --accent: var(--speech-agent-accent, #1a56c4);
  --on-accent: var(--speech-agent-on-accent, #fff);
  --paper: var(--speech-agent-background, #fff);
  --ink: var(--speech-agent-text, #1c2230);
  --soft: var(--speech-agent-soft, #565e70);
  --edge: var(--speech-agent-edge, #858c9c);
  --bad: var(--speech-agent-bad, #b3261e);
  --on-bad: var(--speech-agent-on-bad, #fff);
  color-scheme: light;`;

const DARK = `
  --accent: var(--speech-agent-accent, #9dbcff);
  --on-accent: var(--speech-agent-on-accent, #0b1c3f);
  --paper: var(--speech-agent-background, #161a23);
  --ink: var(--speech-agent-text, #eef0f5);
  --soft: var(--speech-agent-soft, #aab1c0);
  --edge: var(--speech-agent-edge, #6f7787);
  --bad: var(--speech-agent-bad, #ffb4ab);
  --on-bad: var(--speech-agent-on-bad, #4a0b06);
  color-scheme: dark;`;

const CSS = `
:host { display: block; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden], .mode:empty, .current:empty { display: none !important; }
.frame {${LIGHT}
  position: fixed;
  z-index: var(--speech-agent-layer, 1000);
  inset-block-end: 1rem;
  inset-inline-end: 1rem;
  font: 400 1rem/1.5 var(--speech-agent-font, system-ui, sans-serif);
  color: var(--ink);
  text-align: start;
}
@media (prefers-color-scheme: dark) {
  :host(:not([theme='light'])) .frame {${DARK}
  }
}
:host([theme='dark']) .frame {${DARK}
}
:host([position='bottom-left']) .frame { inset-inline: 1rem auto; }
.frame.inline { position: static; }
.panel {
  display: flex;
  flex-direction: column;
  gap: 0.75rem;
  width: min(22rem, 100vw - 2rem);
  max-height: min(36rem, 100vh - 2rem);
  padding: 1rem;
  overflow: auto;
  background: var(--paper);
  border: 1px solid var(--edge);
  border-radius: var(--speech-agent-radius, 0.75rem);
  box-shadow: 0 0.5rem 2rem rgb(0 0 0 / 20%);
}
.beside { display: flex; max-width: min(22rem, 100vw - 2rem); margin-block-end: 0.5rem; }
.beside button { background: var(--paper); }
button.proactive { flex: 1; text-align: start; overflow-wrap: anywhere; }
.beside button.close { border-color: var(--edge); }
.greeting { overflow-wrap: anywhere; }
.inline .panel { width: 100%; box-shadow: none; }
.head, .buttons { display: flex; gap: 0.5rem; }
.head { align-items: center; justify-content: space-between; }
.buttons { flex-wrap: wrap; }
h2, p { margin: 0; }
h2 { font-size: 1.125rem; line-height: 1.25; overflow-wrap: anywhere; }
button, input { font: inherit; }
button {
  min-height: 2.75rem;
  padding: 0.25rem 1rem;
  color: var(--ink);
  background: transparent;
  border: 1px solid var(--edge);
  border-radius: var(--speech-agent-radius, 0.75rem);
  cursor: pointer;
}
button.main, button.launcher { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
button.end { color: var(--on-bad); background: var(--bad); border-color: var(--bad); }
button.launcher { padding-inline: 1.25rem; border-radius: 2rem; box-shadow: 0 0.25rem 1rem rgb(0 0 0 / 25%); }
button.close { min-width: 2.75rem; padding: 0; font-size: 1.5rem; line-height: 1; border-color: transparent; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.status, .mode, .current { color: var(--soft); }
.mode::before {
  content: '';
  display: inline-block;
  width: 0.75rem;
  height: 0.75rem;
  margin-inline-end: 0.5rem;
  background: var(--accent);
  border-radius: 50%;
}
.mode[data-mode='speaking']::before { animation: beat 0.8s ease-in-out infinite alternate; }
.mode[data-mode='thinking']::before { opacity: 0.5; }
.mode.muted::before { background: transparent; border: 2px solid var(--edge); }
@keyframes beat { to { transform: scale(0.6); } }
@media (prefers-reduced-motion: reduce) { .mode::before { animation: none !important; } }
.log { min-height: 0; overflow: auto; overflow-wrap: anywhere; }
.log p + p { margin-block-start: 0.5rem; }
.log .note, .current { font-style: italic; }
.notice { padding-inline-start: 0.75rem; border-inline-start: 4px solid var(--bad); }
.status:empty, .notice:empty { position: absolute; padding: 0; border: 0; }
.consent { overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; }
label { width: 100%; }
input {
  flex: 1;
  min-width: 0;
  min-height: 2.75rem;
  padding: 0.25rem 0.75rem;
  color: var(--ink);
  background: var(--paper);
  border: 1px solid var(--edge);
  border-radius: var(--speech-agent-radius, 0.75rem);
}
@media (forced-colors: active) { .mode::before { background: CanvasText; } }
`;

let sheet: CSSStyleSheet | undefined;

/** One for all elements of a page. */
export function styleSheet(): CSSStyleSheet {
  if (sheet) return sheet;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  return sheet;
}
