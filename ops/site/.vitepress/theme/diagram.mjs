/**
 * A diagram from its text in Mermaid's language, drawn when somebody is about to see it: Mermaid is large, and a page may have thirty.
 * A large one holds up a phone for seconds, so it is drawn when its button is pressed. Before that, and without JavaScript, the text is
 * there.
 */
import { useData } from 'vitepress';
import { computed, defineComponent, h, onBeforeUnmount, onMounted, ref, watch } from 'vue';

/** How far outside of what is seen a diagram is drawn. */
const AHEAD = '600px';

/** Lines of text; the statechart of a conversation has five times as many. */
const LARGE_LINES = 100;

let drawn = 0;

async function svgOf(text, theme) {
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize({ startOnLoad: false, theme, securityLevel: 'strict' });
  const { svg } = await mermaid.render(`diagram-${++drawn}`, text);
  return svg;
}

/** Calls `then` once, when the element is about to be seen. Returns what ends the waiting. */
function whenNear(element, then) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      then();
    },
    { rootMargin: AHEAD },
  );
  observer.observe(element);
  return () => observer.disconnect();
}

export const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const text = computed(() => decodeURIComponent(props.code));
    const isLarge = computed(() => text.value.split('\n').length > LARGE_LINES);
    const root = ref();
    const svg = ref('');
    const draw = async () => {
      svg.value = await svgOf(text.value, isDark.value ? 'dark' : 'neutral');
    };
    let forget;
    onMounted(() => {
      if (!isLarge.value) forget = whenNear(root.value, draw);
      watch(isDark, () => svg.value && draw());
    });
    onBeforeUnmount(() => forget?.());
    return () =>
      svg.value
        ? h('div', { class: 'diagram', innerHTML: svg.value })
        : [
            isLarge.value && h('button', { class: 'diagram-button', onClick: draw }, 'Draw this diagram'),
            h('pre', { class: 'diagram', ref: root }, text.value),
          ];
  },
});
