/** Links to the parts of a page, with the current one marked. */
export const Tabs = ({
  tabs,
  current,
  label,
}: {
  tabs: readonly { id: string; name: string; href: string }[];
  current: string;
  label: string;
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ id, name, href }) => (
      <a key={id} href={href} {...(id === current && { 'aria-current': 'page' as const, ref: bringIntoRow })}>
        {name}
      </a>
    ))}
  </nav>
);

/** Scroll the row of tabs, but not the page, to the current tab. On a phone the row is wider than the page. */
const bringIntoRow = (tab: HTMLElement | null): void => {
  const row = tab?.parentElement;
  if (tab == null || row == null) return;
  const [own, shown] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
  if (own.right > shown.right) row.scrollLeft += own.right - shown.right;
  else if (own.left < shown.left) row.scrollLeft -= shown.left - own.left;
};
