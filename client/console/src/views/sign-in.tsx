/** The page for who is not signed in. */
import { useEffect } from 'preact/hooks';
import { KeyForm } from '../parts/key-form.js';
import { texts } from '../texts.js';

export function SignIn({ done }: { readonly done: () => void }) {
  useEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.name}`;
  }, []);
  return (
    <main class="gate stack">
      <h1>{texts.name}</h1>
      <KeyForm help={texts.signIn.help} done={done} />
    </main>
  );
}
