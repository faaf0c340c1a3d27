import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { plural } from '../ui/text/format.ts';
import { type Delivery, loadDeliveries, sendAgain } from './hook-calls.ts';

/** The last messages to a hook, with the reason of each that was not delivered. */
export function Deliveries({
  project_id,
  name,
  mayChange,
}: {
  project_id: string;
  name: string;
  mayChange: boolean;
}) {
  const live = useLive(`deliveries/${project_id}/${name}`, () => loadDeliveries(project_id, name));
  const again = async ({ delivery_id }: Delivery) => {
    const { status } = await sendAgain(project_id, name, delivery_id);
    tell(status === 'delivered' ? 'Delivered' : 'Not delivered');
    await live.refresh();
  };
  return (
    <Loaded live={live} rows={2} what="The messages could not be loaded">
      {(deliveries) =>
        deliveries.length === 0 ? (
          <p class="soft small">No message in the last 30 days.</p>
        ) : (
          <div class="scroll-x">
            <table class="data">
              <tbody>
                {deliveries.map((delivery) => (
                  <tr key={delivery.delivery_id}>
                    <th scope="row">
                      <bdi>{delivery.title}</bdi>
                      <p class="soft">
                        {delivery.status}
                        {delivery.tries > 1 && ` after ${plural(delivery.tries, 'attempt')}`}
                        {delivery.status !== 'delivered' &&
                          `: ${delivery.attempts.at(-1)?.error ?? 'not sent yet'}`}
                      </p>
                    </th>
                    <td class="right">
                      <Ago time={delivery.created_at} />
                    </td>
                    <td class="right">
                      {mayChange && (
                        <Button
                          kind="quiet"
                          icon="again"
                          label={`Send “${delivery.title}” once more`}
                          onClick={() => again(delivery)}
                        />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  );
}
