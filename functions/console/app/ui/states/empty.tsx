import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icon.tsx';

type Children = { children?: ComponentChildren };

/** Message for an empty list, with the next step. */
export const Empty = ({
  title,
  icon = 'folder',
  children,
}: { title: string; icon?: IconName } & Children) => (
  <div class="empty">
    <span class="round">
      <Icon name={icon} size={24} />
    </span>
    <h2>{title}</h2>
    {children}
  </div>
);
