/** VitePress's own theme, with the fonts of the reader's system, diagrams, and a menu of versions. */
import Theme from 'vitepress/theme-without-fonts';
import './site.css';
import { Diagram } from './diagram.mjs';
import { Versions } from './versions.mjs';

export default {
  extends: Theme,
  enhanceApp({ app }) {
    app.component('Diagram', Diagram);
    app.component('Versions', Versions);
  },
};
