/**
 * The lines of a conversation. Finished ones are added to a log, which screen readers say; the one that is being spoken
 * stands below it, for eyes only: it changes with each word.
 */
import { element, write } from './dom.js';
import type { Look } from './state.js';

/** More than a long call has; the oldest give way. */
const MOST_LINES = 500;
/** Whoever has scrolled up further than this is reading, and stays there. */
const NEAR_PX = 60;

export class Transcript {
  readonly log = element('div', { class: 'log', part: 'log', role: 'log' });
  readonly current = element('p', { class: 'current', 'aria-hidden': 'true', dir: 'auto' });

  /** `who` in front of the text; without it a note, such as a hand-over. */
  add(text: string, who?: string, role = 'note'): void {
    const { log } = this;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
    const name = who === undefined ? [] : [element('b', {}, `${who}:`), ' '];
    log.append(element('p', { class: role, part: `line ${role}`, dir: 'auto' }, ...name, text.trim()));
    while (log.childElementCount > MOST_LINES) log.firstElementChild?.remove();
    // What scrolls can be reached by the keyboard.
    log.tabIndex = 0;
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  /** What is being said; empty when it is finished. */
  speak(text: string): void {
    write(this.current, text.trim());
  }

  show({ hasTranscript, texts }: Look): void {
    this.log.setAttribute('aria-label', texts.conversation);
    this.log.hidden = !hasTranscript;
    this.current.hidden = !hasTranscript;
  }

  empty(): void {
    this.log.replaceChildren();
    this.log.removeAttribute('tabindex');
    this.speak('');
  }
}
