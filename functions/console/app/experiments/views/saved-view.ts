/** A named address of the experiments' table. */
export interface SavedView {
  name: string;
  /** Query part of the address. */
  address: string;
}

/** A view that the project has, or one of this browser alone. */
export interface ListedView extends SavedView {
  /** Value of `view` in the address. */
  id: string;
  isShared: boolean;
}

/** Name of the setting that says which view was opened. */
export const viewSetting = 'view';

/** Settings that belong to a moment and not to a view: what is open, and IDs of experiments. */
const momentary = new Set([viewSetting, 'deleted', 'chart', 'hide', 'zoom', 'at', 'baseline']);

/** Return the settings of an address that a view keeps, in one order, so that equal settings are equal texts. */
export function viewAddress(
  query: URLSearchParams,
  further: Readonly<Record<string, string | undefined>>,
): string {
  const settings = new Map([...query].filter(([name, value]) => !momentary.has(name) && value !== ''));
  for (const [name, value] of Object.entries(further))
    if (value !== undefined && value !== '') settings.set(name, value);
  return new URLSearchParams([...settings].sort(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** Return whether a view shows what an address shows. A view without columns has the usual ones. */
export function isShownAs(view: SavedView, address: string): boolean {
  const [saved, shown] = [new URLSearchParams(view.address), new URLSearchParams(address)];
  if (!saved.has('columns')) shown.delete('columns');
  return viewAddress(saved, {}) === viewAddress(shown, {});
}

/** Return the project's views and then the user's own, with their IDs. */
export const listedViews = (shared: readonly SavedView[], own: readonly SavedView[]): ListedView[] => [
  ...shared.map((view) => ({ ...view, id: `project.${view.name}`, isShared: true })),
  ...own.map((view) => ({ ...view, id: `own.${view.name}`, isShared: false })),
];

/** Put a view into a list: in the place of the one with its former name, or of its name, or last. */
export function withView(
  views: readonly SavedView[],
  view: SavedView,
  former: string = view.name,
): SavedView[] {
  const kept = views.filter(({ name }) => name === former || name !== view.name);
  return kept.some(({ name }) => name === former)
    ? kept.map((one) => (one.name === former ? view : one))
    : [...kept, view];
}
export const withoutView = (views: readonly SavedView[], name: string): SavedView[] =>
  views.filter((view) => view.name !== name);
