/** A button that copies a text. */
import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts.js';

const SHOWN_MS = 1500;

export function Copy({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  return (
    <button class="button" type="button" onClick={copy}>
      <span aria-live="polite">{copied ? texts.copied : texts.copy}</span>
    </button>
  );
}
