# The queries of the benchmark: 14, of which 8 need one topic and 6 need two.
#
# To use your own, replace the pairs. A pair is ((gold, ...), query); a gold is
# a topic of corpus.py, or a passage quoted from it. Mind the comma of a single
# gold: ("KV 缓存",). A query is answered when every one of its golds is covered
# by some chunk among the top k.
#
# They are worded as a reader would ask, not as the paragraphs are written.
QUERIES = [
    (("KV 缓存",), "聊得越久，显卡内存就越不够用，是什么东西在涨？"),
    (("前缀缓存",), "每次请求都带着一样的开场说明，能不能别重复算？"),
    (("语义缓存",), "两个用户换着说法问同一件事，可以不再花钱调用模型吗？"),
    (("连续批处理",), "有人的回答很短，却要陪着别人一起等，怎么避免？"),
    (("权重量化",), "显卡装不下这个模型，怎样让它变小？"),
    (("文本分块",), "文档应该切成多大的一段才好检索？"),
    (("检索重排",), "初步搜到的结果顺序不太对，怎样排得更准？"),
    (("前缀缓存",), "为什么在提示词最前面写上当前时间，缓存就失效了？"),
    (("KV 缓存", "权重量化"), "显存紧张时，模型本身和对话历史各占一份，分别怎么省？"),
    (("前缀缓存", "语义缓存"), "问题的措辞略有不同，哪种缓存还能用，哪种就不行了？"),
    (("前缀缓存", "连续批处理"), "同时来的人很多，又都带着很长的相同开头，服务怎样撑得住？"),
    (("文本分块", "检索重排"), "问答总是漏掉关键的句子，该改切法还是该改排序？"),
    (("KV 缓存", "文本分块"), "显存里的块和文档切出来的块，有什么不一样？"),
    (("语义缓存", "检索重排"), "相似度高就一定是对的答案吗？缓存和检索怎样防止认错？"),
]
