import { resolve } from 'node:path';
import { appearances, widestAppearances } from './appearances';
import { openScene } from './openScene';
import { scenes } from './scenes';
import { test } from './test';

const folder = resolve(__dirname, '../../../.build/screenshots');

for (const scene of scenes) {
  for (const appearance of [...appearances, ...widestAppearances]) {
    test(`${scene.name}, ${appearance.name}`, async ({ portal, openTab }) => {
      const { page } = await openScene({ scene, appearance, portal, openTab });

      await page.screenshot({
        path: `${folder}/${scene.name}-${appearance.name}.png`,
        fullPage: true,
        animations: 'disabled',
        caret: 'hide',
      });
    });
  }
}
