/** `agents/new` shows the templates, `agents/new/booking` the draft that was made of one. */
import { useAddress } from '../../../router.js';
import { Gallery } from './gallery.js';
import { Guide } from './guide.js';
import { made } from './made.js';
import { templateOf } from './templates.js';
import { firstTexts } from './texts.js';

export function FirstAgent({ name }: { readonly name: string | undefined }) {
  const { query } = useAddress();
  const template = templateOf(name);
  const parts = made.read();
  if (template && parts?.agent && parts.template === template.id)
    return <Guide key={parts.agent} parts={parts} template={template} />;
  const note = query.has('deleted') ? firstTexts.discarded : name || query.has('gone') ? firstTexts.gone : '';
  return <Gallery key={`${name ?? ''}${note}`} note={note} />;
}
