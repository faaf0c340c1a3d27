import { setViews } from '../../api/projects.ts';
import { type ListedView, type SavedView, withoutView, withView } from './saved-view.ts';
import { storedList } from './stored-list.ts';

const stored = storedList(
  'mps-views',
  (value): value is SavedView =>
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'address' in value &&
    typeof value.address === 'string',
);

/** Views of a project that only this browser has. */
export const ownViews = (project_id: string): readonly SavedView[] => stored.of(project_id).value;

const change = async (
  project_id: string,
  isShared: boolean,
  next: (views: readonly SavedView[]) => SavedView[],
): Promise<void> => {
  if (isShared) await setViews(project_id, next);
  else stored.set(project_id, next(ownViews(project_id)));
};

/** Save a view, in the place of the former one if there is one. */
export async function saveView(
  project_id: string,
  view: SavedView & { isShared: boolean },
  former?: ListedView,
): Promise<void> {
  const { name, address, isShared } = view;
  const isMoved = former !== undefined && former.isShared !== isShared;
  await change(project_id, isShared, (views) =>
    withView(views, { name, address }, isMoved ? undefined : former?.name),
  );
  if (isMoved) await removeView(project_id, former);
}

export const removeView = (project_id: string, { name, isShared }: ListedView): Promise<void> =>
  change(project_id, isShared, (views) => withoutView(views, name));
