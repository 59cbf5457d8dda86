/** Choice of the theme: light, dark, or the system's; kept by the browser. */
import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts.js';

const PLACE = 'console.theme';
const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const kept = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(PLACE)) ?? 'auto';

export function ThemeSwitch() {
  const [theme, setTheme] = useState(kept);
  useEffect(() => {
    localStorage.setItem(PLACE, theme);
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <select
      aria-label={texts.theme.label}
      value={theme}
      onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {texts.theme[name]}
        </option>
      ))}
    </select>
  );
}
