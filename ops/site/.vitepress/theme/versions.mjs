/**
 * The version that is read, and a way to the same page of others. Which there are is asked when somebody opens it, so that pages of old
 * versions know of new ones; a site that has no others names its own.
 */
import { useData, withBase } from 'vitepress';
import { computed, defineComponent, h, ref } from 'vue';

/** The names of the versions beside this one (ops/site/versions.mjs); none where it stands alone. */
async function namesBeside(base) {
  const answer = await fetch(new URL('../versions.json', base)).catch(() => undefined);
  return answer?.ok ? answer.json().catch(() => []) : [];
}

/** Where another version has the page, or where it begins if it has none. */
async function addressIn(name, base, page) {
  const same = new URL(`../${name}/${page}`, base);
  const answer = await fetch(same, { method: 'HEAD' }).catch(() => undefined);
  return (answer?.ok ? same : new URL(`../${name}/`, base)).pathname;
}

export const Versions = defineComponent({
  props: { screenMenu: Boolean },
  setup(props) {
    const { site, page, theme } = useData();
    const others = ref([]);
    const place = computed(() =>
      page.value.relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html'),
    );
    async function look({ target }) {
      if (!target.open) return;
      const base = new URL(site.value.base, location.href);
      const names = (await namesBeside(base)).filter((name) => !base.pathname.endsWith(`/${name}/`));
      others.value = await Promise.all(
        names.map(async (name) => ({ name, address: await addressIn(name, base, place.value) })),
      );
    }
    // Pages of other versions are none of this router's.
    const other = ({ name, address }) =>
      h('li', { key: name }, h('a', { href: address, target: '_self' }, name));
    return () =>
      h('details', { class: ['versions', { screen: props.screenMenu }], onToggle: look }, [
        h('summary', theme.value.version),
        h('ul', [
          ...others.value.map(other),
          h('li', h('a', { href: withBase('/changelog.html') }, 'What changed')),
        ]),
      ]);
  },
});
