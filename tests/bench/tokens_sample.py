# ruff: noqa: E501 - the texts are prose
"""Make `tests/core/token_sample.jsonl`: texts by class with true token counts.

Every text is written for this project or generated here, none was used for fitting. The counts are those of the
vocabularies in splintr-rs, and for Claude those of ctok, an unofficial reconstruction that needs Python 3.12 or newer:
`pip install attrs splintr-rs==0.22.0 ctok==1.3.0 && python tests/bench/tokens_sample.py`.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from sidecar.core.exact import count_exactly  # noqa: E402
from sidecar.core.profiles import profile, profile_ids  # noqa: E402

OUT = ROOT / "tests" / "core" / "token_sample.jsonl"

PROSE = {
    "english": """The committee met on a rainy Thursday to decide what should become of the old railway station. Some wanted shops,
some wanted a library, and the mayor, who had never liked trains, wanted a car park. After three hours they agreed on nothing
except the date of the next meeting. Meanwhile the roof leaked, and pigeons settled in the ticket office. A local carpenter
offered to repair the doors for free if he could keep the benches; nobody answered his letter. When the wind finally took the
clock down, people noticed that they had set their watches by it for years.""",
    "chinese": """昨天下午我去图书馆还书，顺便借了一本关于城市历史的新书。作者用很多旧照片说明这条河怎样改变了周围的街道和人们的生活。
读到一半的时候，外面忽然下起大雨，我只好在窗边多坐了一个小时。管理员给大家倒了热茶，还告诉我们哪里可以借到雨伞。
如果程序在启动时读取不到配置文件，就应该给出清楚的错误信息，而不是悄悄使用默认值。用户需要知道发生了什么，以及下一步可以怎么做。""",
    "japanese": """昨日の会議では、新しい図書館をどこに建てるかについて長い話し合いが行われました。駅の近くが便利だという意見が多かったのですが、
静かな公園の隣を希望する人も少なくありませんでした。設定ファイルが見つからない場合は、既定値を黙って使うのではなく、
はっきりとしたエラーメッセージを表示してください。利用者が次に何をすればよいのか分かるようにすることが大切です。""",
    "korean": """어제 회의에서는 새로운 도서관을 어디에 지을지에 대해 오랫동안 이야기를 나누었습니다. 역 근처가 편리하다는 의견이 많았지만
조용한 공원 옆을 원하는 사람도 적지 않았습니다. 설정 파일을 찾을 수 없을 때는 기본값을 조용히 쓰지 말고 분명한 오류 메시지를 보여 주세요.
사용자가 다음에 무엇을 해야 하는지 알 수 있도록 하는 것이 중요합니다.""",
    "russian": """Вчера мы долго обсуждали, где построить новую библиотеку. Многие считали, что удобнее всего будет рядом с вокзалом, но нашлись
и те, кто предпочёл бы тихое место у парка. Если файл настроек не найден, программа должна сообщить об этом понятным сообщением,
а не молча использовать значения по умолчанию. Пользователю важно знать, что произошло и что он может сделать дальше.""",
    "german": """Gestern haben wir lange darüber gesprochen, wo die neue Bücherei gebaut werden soll. Viele fanden den Platz am Bahnhof bequem,
andere wünschten sich eine ruhige Ecke neben dem Stadtpark. Wird die Einstellungsdatei nicht gefunden, so soll das Programm eine
verständliche Fehlermeldung zeigen und nicht stillschweigend Vorgabewerte benutzen. Wichtig ist, dass man weiß, was zu tun ist.""",
    "french": """Hier, nous avons longuement discuté de l'endroit où construire la nouvelle bibliothèque. Beaucoup préféraient un terrain près de
la gare, d'autres rêvaient d'un coin tranquille à côté du parc. Si le fichier de configuration est introuvable, le programme doit
afficher un message d'erreur clair plutôt que d'utiliser en silence des valeurs par défaut.""",
    "spanish": """Ayer hablamos durante horas sobre dónde construir la nueva biblioteca. Muchos preferían un solar cerca de la estación, aunque otros
soñaban con un rincón tranquilo junto al parque. Si no se encuentra el archivo de configuración, el programa debe mostrar un mensaje
de error claro en lugar de usar valores predeterminados sin avisar a nadie.""",
    "arabic": """تحدثنا أمس طويلا عن المكان الذي يجب أن تبنى فيه المكتبة الجديدة. رأى كثيرون أن الموقع القريب من المحطة مريح، بينما فضل آخرون
ركنا هادئا بجانب الحديقة. إذا لم يعثر البرنامج على ملف الإعدادات فعليه أن يعرض رسالة خطأ واضحة بدلا من استخدام القيم الافتراضية بصمت.""",
}  # fmt: skip

NOTES = {
    "chinese": """## 部署说明

1. 先运行 `make build`，再把 `dist/` 目录里的文件复制到服务器的 /opt/app 下面；如果磁盘空间不足（少于 2 GB），请先清理旧日志。
2. 修改 config.yaml 中的 `max_connections`（默认值为 100），然后重启服务。
> 注意：升级数据库之前一定要备份，否则数据可能会丢失！遇到 “permission denied” 错误时，检查一下文件的所有者。""",
    "japanese": """## トラブルシューティング

サーバーが起動しない場合は、まずログ（/var/log/app/error.log）を確認してください。「ポートが使用中です」と表示されたときは、
`lsof -i :8080` でプロセスを調べて終了させます。それでも直らなければ、キャッシュを削除してから再インストールしてみましょう。
- メモリは最低でも4GB必要です。
- Pythonのバージョンは3.11以上を推奨します。""",
    "korean": """## 문제 해결

서버가 시작되지 않으면 먼저 로그 파일(/var/log/app/error.log)을 확인하세요. "포트가 이미 사용 중입니다"라는 메시지가 나오면
`lsof -i :8080` 명령으로 프로세스를 찾아 종료해야 합니다. 그래도 해결되지 않으면 캐시를 지우고 다시 설치해 보세요.
- 메모리는 최소 4GB가 필요합니다.
- 파이썬 3.11 이상의 버전을 권장합니다.""",
    "english": """Thanks for the report! I can reproduce this on macOS 14.2 with v2.3.1, but not on Linux. It looks like the watcher
fires twice when an editor saves through a temporary file: once for the rename and once for the attribute change. Could you run
`app --trace 2> trace.log` and attach the file? As a workaround, set `debounce = 200` in settings.toml. I'd rather not add
another flag here, because we already have three of them and nobody remembers which one wins.""",
}
"""What people write to each other about programs: prose with paths, names and marks."""

CODE = {
    "typescript": ("editors/vscode/src/*.ts", "tests/clients/typescript/src/*.ts"),
    "lua": ("editors/neovim/lua/**/*.lua", "tests/clients/lua/*.lua"),
    "emacs-lisp": ("editors/emacs/*.el", "tests/editors/emacs/*.el"),
    "go": ("tests/clients/go/*.go",),
    "rust": ("tests/clients/rust/src/*.rs",),
    "ruby": ("tests/clients/ruby/*.rb",),
    "java": ("tests/clients/java/src/main/java/*.java",),
}
"""Class -> where this project has code in that language."""


def texts() -> list[tuple[str, str]]:
    """Return class and text of each sample."""
    dice = random.Random(20261201)
    found = [*PROSE.items(), *NOTES.items()]
    # Sentences in another order and number make further texts of the same class, as different as messages are.
    for name, text in PROSE.items():
        stops = "。" if name in ("chinese", "japanese") else "."
        parts = [part.strip() for part in text.replace("\n", " ").split(stops) if part.strip()]
        for _ in range(2):
            dice.shuffle(parts)
            found.append((name, (stops + ("" if stops == "。" else " ")).join(parts[: max(2, len(parts) - 1)]) + stops))
    for pattern, name in (
        ("sidecar/core/*.py", "python"),
        ("protocol/*.md", "markdown"),
        ("protocol/conformance/*.jsonl", "jsonl"),
    ):
        for path in sorted(ROOT.glob(pattern))[:8]:
            body = path.read_text(encoding="utf-8")
            at = dice.randrange(max(1, len(body) - 1500))
            found.append((name, body[at : at + 1500]))
    for name, patterns in CODE.items():
        paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        for number in range(4):
            body = paths[number % len(paths)].read_text(encoding="utf-8")
            at = body.find("\n", len(body) * (number + 1) // 7) + 1
            found.append((name, body[at : at + 1500]))
    for _ in range(4):
        found.append(("base64", base64.b64encode(dice.randbytes(700)).decode()))
        found.append(("hex", dice.randbytes(400).hex()))
        found.append(("numbers", "\n".join(",".join(f"{dice.gauss(50, 20):.3f}" for _ in range(6)) for _ in range(25))))
        rows = [
            {"id": dice.randrange(10**6), "name": dice.choice(("alpha", "beta", "gamma")), "active": dice.random() < 0.5,
             "tags": dice.sample(["red", "green", "blue", "new"], 2), "score": round(dice.random(), 4)}
            for _ in range(12)
        ]  # fmt: skip
        found.append(("json", json.dumps(rows)))
        found.append(("json-indented", json.dumps(rows[:8], indent=2)))
        found.append(
            (
                "log",
                "\n".join(
                    f"2026-11-{dice.randrange(1, 30):02}T{dice.randrange(24):02}:{dice.randrange(60):02}:11Z INFO worker[{dice.randrange(900)}] "
                    f"{dice.choice(('request done', 'cache miss', 'retrying'))} path=/api/v1/items/{dice.randrange(9999)} ms={dice.randrange(900)}"
                    for _ in range(14)
                ),
            )
        )
        found.append(
            (
                "listing",
                "\n".join(
                    f"-rw-r--r-- 1 root root {dice.randrange(10**6):7} Nov {dice.randrange(1, 30):2} 12:{dice.randrange(60):02} "
                    f"{dice.choice(('main', 'test', 'notes', 'index'))}_{dice.randrange(99)}.{dice.choice(('py', 'txt', 'json'))}"
                    for _ in range(20)
                ),
            )
        )
    return found


def truths() -> dict[str, Callable[[str], int]]:
    """Return what counts exactly, by profile."""
    import ctok

    def claude(version: str) -> Callable[[str], int]:
        frame = ctok.token_count("", version)
        return lambda text: int(ctok.token_count(text, version)) - frame

    def open_vocabulary(vocabulary: str) -> Callable[[str], int]:
        return lambda text: count_exactly(vocabulary, text)

    known = {name: profile(name).exact for name in profile_ids()}
    counting = {name: open_vocabulary(exact) for name, exact in known.items() if exact is not None}
    return {**counting, "anthropic-v3": claude("3.0"), "anthropic-v4.8": claude("4.8")}


def main() -> None:
    """Write the sample."""
    counting = truths()
    with OUT.open("w", encoding="utf-8") as file:
        for name, text in texts():
            counts = {each: count(text) for each, count in counting.items()}
            file.write(json.dumps({"class": name, "text": text, "tokens": counts}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
