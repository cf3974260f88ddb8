"""Captions of a few scenes, with one reference each and with several."""

PREDICTIONS = ["푸른 파도가 밀려온다", "아이가 공을 던진다", "사람이 길을 걷는다", "고양이 한 마리가 창가에 앉아 있다"]
SEVERAL = [
    ["파란 파도가 해안으로 밀려온다", "바다가 푸르다"],
    ["한 아이가 파란 공을 힘껏 던집니다"],
    ["사람들이 길을 걸어간다", "두 사람이 길을 걷는다", "거리를 걷는 사람"],
    ["창가에 고양이가 앉아 있다"],
]
REFERENCES = [texts[0] for texts in SEVERAL]
