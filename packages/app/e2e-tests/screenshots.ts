import { resolve } from 'node:path';
import { scenes } from './scenes';
import { appearances, openScene, widestAppearances } from './scenes/Scene';
import { test } from './test';

const folder = resolve(__dirname, '../../../.build/screenshots');

for (const scene of scenes) {
  for (const appearance of [...appearances, ...widestAppearances]) {
    test(`${scene.name}, ${appearance.name}`, async ({ portal, openTabAs }) => {
      const { page } = await openScene({
        scene,
        appearance,
        portal,
        openTabAs,
      });

      await page.screenshot({
        path: `${folder}/${scene.name}-${appearance.name}.png`,
        fullPage: true,
        animations: 'disabled',
        caret: 'hide',
      });
    });
  }
}
