/**
 * All views of the console: which there are, what is pressed and said in them, and what would be wrong with one: too wide for a
 * screen, or with controls that the keyboard does not come to. What is in capitals runs in the page.
 */

/** A phone, a screen of 1280 pixels at a zoom of 200 %, a tablet, and a wide screen. */
export const WIDTHS = [390, 640, 1024, 1440];

export const VIEWS = () =>
  [...document.querySelectorAll('nav a')]
    .map((link) => link.getAttribute('href'))
    .filter((address) => address.startsWith('#'));

/** `link` is the one of the menu that leads to the view which `address` is part of. */
export const IS_SHOWN = (link) =>
  document.querySelector('nav [aria-current]')?.getAttribute('href') === link &&
  document.querySelector('main h1') !== null &&
  !/Loading/.test(document.body.innerText);

export const UNFOLD = () =>
  document.querySelectorAll('main details').forEach((details) => (details.open = true));

/** What would have to be scrolled to the side with the whole page. */
export const TOO_WIDE = () =>
  document.documentElement.scrollWidth <= innerWidth
    ? []
    : [...document.querySelectorAll('main *')]
        .filter(
          (element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.scroll'),
        )
        .map((element) => element.outerHTML.slice(0, 120));

/** So many presses more than there are controls, for what else can be reached, are too many. */
const OTHERS = 60;
const TAB = { type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };

/** A keyboard on which Tab is pressed `count` times in a row, as one that is held down does. */
export async function keyboardOf(page) {
  const session = await page.context().newCDPSession(page);
  return (count) =>
    Promise.all(Array.from({ length: count }, () => session.send('Input.dispatchKeyEvent', TAB)));
}

/** What Tab has to come to from the beginning of the view; behind the menu, unless `top`. */
const AWAIT = (top) => {
  const main = document.querySelector('main');
  document.activeElement?.blur();
  scrollTo(0, 0);
  const controls = [...main.querySelectorAll(':is(a[href], button, input, select, textarea, summary)')];
  window.awaited = new Set(
    controls.filter((element) => !element.disabled && element.checkVisibility({ visibilityProperty: true })),
  );
  window.seen ??=
    document.addEventListener('focusin', ({ target }) => {
      if (getComputedStyle(target).outlineStyle !== 'none') window.awaited.delete(target);
    }) ?? true;
  if (!top) {
    main.tabIndex = -1;
    main.focus();
    main.removeAttribute('tabindex');
  }
  return window.awaited.size;
};

/** Controls of the view that Tab does not come to, or where one does not see it. */
export async function notReached(page, press, { top = false } = {}) {
  const wanted = await page.evaluate(AWAIT, top);
  let left = wanted;
  for (let pressed = 0; left > 0 && pressed < wanted * 2 + OTHERS;) {
    await press(left);
    pressed += left;
    left = await page.evaluate(() => window.awaited.size);
  }
  return page.evaluate(() => [...window.awaited].map((element) => element.outerHTML.slice(0, 120)));
}

/** One of everything that has a page of its own. */
export async function pagesBelow({ base, authorization, call }, { agent, session }) {
  const { tool_id: tool } = (
    await call('tools', { body: { name: 'Orders', url: 'https://shop.example.com/orders' } })
  ).body;
  const form = new FormData();
  form.set('source', new File(['# Returns\n\nWithin thirty days.'], 'returns.md'));
  const kept = await fetch(`${base}/v1/agent/knowledge-sources`, {
    method: 'POST',
    headers: authorization,
    body: form,
  });
  const number = {
    provider: 'twilio',
    phone_number: '+493012345678',
    credentials: { auth_token: '0123456789abcdef0123456789abcdef' },
  };
  const { phone_number_id: phone } = (await call('phone-numbers', { body: number })).body;
  const [run] = (await call(`tests/runs?agent_id=${agent}`)).body.runs;
  const [{ scenario_id: scenario }] = (await call(`tests/scenarios?agent_id=${agent}`)).body.scenarios;
  const suite = { agent_id: agent, name: 'All', scenario_ids: [scenario] };
  const { suite_id: made } = (await call('tests/suites', { body: suite })).body;
  return [
    '#/agents/new',
    ...['draft', 'versions', 'webhooks', 'settings'].map((part) => `#/agents/${agent}/${part}`),
    `#/tools/${tool}`,
    `#/knowledge/${(await kept.json()).knowledge_source_id}`,
    `#/tests/scenarios/${scenario}`,
    `#/tests/suites?agent=${agent}`,
    `#/tests/suites/${made}`,
    `#/tests/runs?agent=${agent}`,
    `#/tests/runs/${run.run_id}`,
    `#/tests/runs/${run.run_id}/${scenario}`,
    `#/phone/${phone}`,
    `#/calls/${session}`,
  ];
}

export const PRESS = (name) =>
  [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === name).click();
export const IS_READY = (name) =>
  [...document.querySelectorAll('button')].some(
    ({ textContent, disabled }) => textContent.trim() === name && !disabled,
  );
export const HAS_LINE = (text) =>
  [...document.querySelectorAll('.lines li')].some(({ textContent }) => textContent.includes(text));
export const SEND = (text) => {
  const input = document.querySelector('main form input:not([type=checkbox])');
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  setTimeout(() => input.form.requestSubmit());
};
