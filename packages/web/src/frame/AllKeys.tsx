import { ACTION_NAMES, ACTIONS, keyWords } from '../keys/key-map.ts';
import { currentMap, isMac } from '../keys/keyboard.ts';
import { Dialog } from './Dialog.tsx';

export function AllKeys({ onClose }: { onClose: () => void }) {
  const map = currentMap();
  return (
    <Dialog title="All keys" onClose={onClose} className="all-keys">
      <dl>
        {ACTION_NAMES.map((action) => (
          <div key={action}>
            <dt>
              <kbd>{keyWords(map[action], isMac)}</kbd>
            </dt>
            <dd>{ACTIONS[action][1]}</dd>
          </div>
        ))}
      </dl>
      <p className="said">
        They can be changed or switched off in the settings. Inside fields they write letters, as they should.
      </p>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
