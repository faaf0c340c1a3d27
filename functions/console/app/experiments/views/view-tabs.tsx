import { useState } from 'preact/hooks';
import { Button } from '../../ui/controls/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { href, place, setQuery } from '../../ui/router.ts';
import { lazy } from '../../ui/states/lazy.tsx';
import { attempt, tell } from '../../ui/states/notice.tsx';
import { ownViews, removeView, saveView } from './own-views.ts';
import {
  isShownAs,
  type ListedView,
  listedViews,
  type SavedView,
  viewAddress,
  viewSetting,
} from './saved-view.ts';

const ShareButton = lazy(() => import('../../project/share-button.tsx').then((module) => module.ShareButton));
const ViewDialog = lazy(() => import('./view-dialog.tsx').then((module) => module.ViewDialog));

/** Tabs of the saved views: the project's, then the user's own. The last one saves what is shown. */
export function ViewTabs({
  project_id,
  shared,
  columns,
  mayChange,
  mayShare,
  onChange,
}: {
  project_id: string;
  /** The project's views. */
  shared: readonly SavedView[];
  /** Columns that are shown. A view holds them, even if they are this browser's usual ones. */
  columns: string;
  mayChange: boolean;
  /** Whether the user may make links. */
  mayShare: boolean;
  /** Called after a change of the project's views. */
  onChange: () => Promise<unknown>;
}) {
  const [edited, setEdited] = useState<ListedView | 'new'>();
  const { query } = place.value;
  const views = listedViews(shared, ownViews(project_id));
  const current = views.find(({ id }) => id === query.get(viewSetting));
  const address = viewAddress(query, { columns });
  const mayChangeView = ({ isShared }: ListedView) => !isShared || mayChange;
  const isChanged = current !== undefined && !isShownAs(current, address);
  const save = async (view: SavedView & { isShared: boolean }, former?: ListedView) => {
    await saveView(project_id, view, former);
    await onChange();
    const [saved] = listedViews(view.isShared ? [view] : [], view.isShared ? [] : [view]);
    setQuery({ [viewSetting]: saved?.id });
  };
  const remove = (view: ListedView) =>
    attempt(async () => {
      await removeView(project_id, view);
      await onChange();
      if (view.id === current?.id) setQuery({ [viewSetting]: undefined });
      tell(`The view ${view.name} is removed.`, false, { name: 'Undo', act: () => save(view) });
    });
  const tab = (id: string | undefined, name: string, to: string, isOwn = false) => (
    <a
      key={id ?? ''}
      href={to}
      title={isOwn ? `${name}: only you see this view` : name}
      {...(id === current?.id && { 'aria-current': 'page' as const })}
    >
      {isOwn && <Icon name="person" size={12} />}
      <bdi>{name}</bdi>
      {id !== undefined && id === current?.id && isChanged && <span class="soft"> · changed</span>}
    </a>
  );
  return (
    <div class="view-tabs">
      <nav aria-label="Views">
        {tab(undefined, 'All', href(['projects', project_id]))}
        {views.map((view) =>
          tab(
            view.id,
            view.name,
            href(['projects', project_id], {
              ...Object.fromEntries(new URLSearchParams(view.address)),
              [viewSetting]: view.id,
            }),
            !view.isShared,
          ),
        )}
      </nav>
      {current !== undefined && mayChangeView(current) && isChanged && (
        <button
          type="button"
          class="as-link small"
          onClick={() => void attempt(() => save({ ...current, address }, current), 'Saved.')}
        >
          Update
        </button>
      )}
      {current !== undefined && mayChangeView(current) && !isChanged && (
        <Button
          kind="quiet"
          label={`Settings of ${current.name}`}
          icon="dots"
          onClick={() => setEdited(current)}
        />
      )}
      {mayShare && current?.isShared === true && !isChanged && (
        <ShareButton
          project_id={project_id}
          subject={{ kind: 'view', name: current.name }}
          label={`Share ${current.name} by a link`}
        />
      )}
      <Button kind="quiet" icon="plus" label="Add a view of what is shown" onClick={() => setEdited('new')} />
      {edited !== undefined && (
        <ViewDialog
          view={edited === 'new' ? undefined : edited}
          address={address}
          mayShare={mayChange}
          onSave={save}
          onRemove={remove}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  );
}
