import { useLive } from '../api/use-live.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { plural } from '../ui/text/format.ts';
import { loadLinks, removeLink } from './link-calls.ts';

/** The links of a project, for its owner. */
export function Links({ project_id }: { project_id: string }) {
  const live = useLive(`links/${project_id}`, () => loadLinks(project_id));
  return (
    <Loaded live={live} rows={2} what="The links could not be loaded">
      {(links) =>
        links.length === 0 ? (
          <p class="soft small">
            None. <em>Share</em> makes one: of an experiment, comparison, sweep, saved view or report.
          </p>
        ) : (
          <ul class="lines">
            {links.map(({ link_id, kind, about, anonymous, files, expires_at }) => (
              <li key={link_id} class="line">
                <span class="grow">
                  {kind === 'comparison' ? plural(about.length, 'experiment') : kind}{' '}
                  <bdi>{kind === 'view' ? about[0] : about[0]?.slice(-6)}</bdi>{' '}
                  <span class="soft">
                    until {expires_at.slice(0, 10)}
                    {anonymous && ', anonymous'}
                    {files && ', with files'}
                  </span>
                </span>
                <AskingButton
                  kind="quiet"
                  icon="close"
                  label={`Revoke the link ${link_id}`}
                  title="Revoke this link?"
                  action="Revoke"
                  question="Its page shows nothing from the next request on."
                  onConfirm={async () => {
                    await removeLink(project_id, link_id);
                    await live.refresh();
                  }}
                />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
