/**
 * What Lighthouse measures of a page, of the console's first load by a user who has signed in, on a screen as large as
 * Lighthouse's. Times are of the machine, and are told, not judged; BOUNDS is what does not depend on it.
 */
/** At most: bytes and requests of the first load, how far its layout shifts, and how often the page was laid out. */
export const BOUNDS = {
  'loaded, KB compressed': 100,
  requests: 12,
  'cumulative layout shift': 0.05,
  layouts: 60,
  'style recalculations': 90,
  'elements and texts': 1500,
  'images without a size': 0,
};

/** Start, and those that are put together from the most. */
export const MEASURED = ['', 'agents', 'machine'];

const SCREEN = { width: 1350, height: 940 };

const WATCH = () => {
  // Lighthouse counts what a task takes beyond this.
  const LONG = 50;
  window.measured = { paint: 0, shift: 0, blocked: 0 };
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('largest-contentful-paint', ({ startTime }) => (window.measured.paint = startTime));
  watch('layout-shift', ({ value, hadRecentInput }) => (window.measured.shift += hadRecentInput ? 0 : value));
  watch('longtask', ({ duration }) => (window.measured.blocked += Math.max(0, duration - LONG)));
};

/** Bytes of the scripts and styles, and of those the ones that the first view used. */
async function used(page) {
  const scripts = await page.coverage.stopJSCoverage();
  const styles = await page.coverage.stopCSSCoverage();
  const covered = (text, functions) => {
    const marks = new Uint8Array(text.length);
    for (const { ranges } of functions)
      for (const { startOffset, endOffset, count } of ranges)
        marks.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    return marks.reduce((sum, mark) => sum + mark, 0);
  };
  const all = [
    ...scripts.map(({ source, functions }) => [source.length, covered(source, functions)]),
    ...styles.map(({ text, ranges }) => [
      text.length,
      ranges.reduce((sum, { start, end }) => sum + end - start, 0),
    ]),
  ];
  return all.reduce(([whole, part], [bytes, use]) => [whole + bytes, part + use], [0, 0]);
}

/** As sent, so compressed. */
async function kilobytes(page) {
  const bytes = await page.evaluate(() =>
    performance
      .getEntries()
      .filter(({ entryType, name }) => entryType === 'navigation' || /\/console\//.test(name))
      .reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0),
  );
  return bytes / 1024;
}

/** Starts to note what is used. What it answers tells the part in per cent that was loaded and not used. */
async function watchUse(page) {
  await page.coverage.startJSCoverage();
  await page.coverage.startCSSCoverage();
  return async () => {
    const [whole, part] = await used(page);
    return { 'loaded and not used at first, %': Math.round(100 * (1 - part / whole)) };
  };
}

/**
 * Signs in with `key` and loads the view anew, with the processor `slower` times slower than it is. `use`: also what of the first load was
 * used, which costs time and has no bound.
 */
export async function measure(page, { base, key }, { view = '', slower = 1, use = false }) {
  await page.setViewportSize(SCREEN);
  await page.addInitScript((key) => sessionStorage.setItem('console.key', key), key);
  await page.addInitScript(WATCH);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
  const usedOf = use ? await watchUse(page) : () => ({});
  let requests = 0;
  page.on('request', () => (requests += 1));
  await session.send('Performance.enable');
  await page.goto(`${base}/console?measured#/${view}`);
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  const { metrics } = await session.send('Performance.getMetrics');
  const counted = (name) => metrics.find((metric) => metric.name === name).value;
  await session.detach();
  const { paint, shift, blocked } = await page.evaluate(() => window.measured);
  return {
    'largest contentful paint, ms': Math.round(paint),
    'total blocking time, ms': Math.round(blocked),
    'cumulative layout shift': Number(shift.toFixed(4)),
    'loaded, KB compressed': Number((await kilobytes(page)).toFixed(1)),
    requests: requests,
    layouts: counted('LayoutCount'),
    'style recalculations': counted('RecalcStyleCount'),
    'elements and texts': counted('Nodes'),
    'images without a size': await page.evaluate(
      () => document.querySelectorAll('img:not([width][height])').length,
    ),
    ...(await usedOf()),
  };
}
